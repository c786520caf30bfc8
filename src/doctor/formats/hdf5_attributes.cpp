// Follows the "HDF5 File Format Specification Version 3.0".
#include "doctor/formats/hdf5_attributes.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace plimsoll::doctor {
namespace {

constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
constexpr uint32_t kAttribute = 0x0c, kContinuation = 0x10;
// Root groups have tens of messages; a loop of continuations ends here.
constexpr size_t kMostMessages = 10000, kMostBlocks = 1000;
constexpr uint64_t kLongest = 64u << 20;

uint64_t padded(uint64_t size) { return (size + 7) / 8 * 8; }

class Reader {
 public:
  // `whole_size` is the size of the file, of which `file` may be the beginning only.
  Reader(Bytes file, uint64_t whole_size) : file_(file), whole_size_(whole_size) {}

  void check_end() { read_superblock(); }

  Hdf5Root read() {
    read_superblock();
    blocks_.push_back(Block{root_, 0, true});
    for (size_t i = 0; i < blocks_.size() && i < kMostBlocks; ++i) read_block(blocks_[i]);
    return std::move(result_);
  }

 private:
  struct Block {
    uint64_t address, length;
    bool first;
  };

  uint64_t offset(Bytes b, uint64_t at) const { return b.number(at, offset_size_); }
  uint64_t length(Bytes b, uint64_t at) const { return b.number(at, length_size_); }

  void read_superblock() {
    const uint8_t version = file_.u8(8);
    const bool old = version <= 1;
    if (version > 3) fail(ErrorKind::bad_file, "hdf5", "superblock version ", int{version}, " is not known");
    offset_size_ = file_.u8(old ? 13 : 9);
    length_size_ = file_.u8(old ? 14 : 10);
    for (const unsigned size : {offset_size_, length_size_}) {
      if (size != 2 && size != 4 && size != 8)
        fail(ErrorKind::bad_file, "hdf5", "addresses of ", size, " bytes");
    }
    // Old: base, free space, end, driver, then the root's symbol table entry: name, header.
    // New: base, extension, end, header.
    const uint64_t first = old ? (version == 1 ? 28 : 24) : 12;
    const uint64_t end = offset(file_, first + 2 * uint64_t{offset_size_});
    const uint64_t undefined = ~uint64_t{0} >> (64 - 8 * offset_size_);
    if (end != undefined && end > whole_size_)
      fail(ErrorKind::bad_file, "hdf5", "the file is cut off: it has ", whole_size_,
           " bytes, its header promises ", end);
    root_ = offset(file_, first + (old ? 5 : 3) * uint64_t{offset_size_});
  }

  void read_block(Block block) {
    if (block.first) {
      const Bytes header = file_.from(block.address);
      new_format_ = header.has(0, 4) && header.text(0, 4) == "OHDR";
      if (!new_format_) {
        if (header.u8(0) != 1)
          fail(ErrorKind::bad_file, "hdf5", "no object header where the root group should be");
        read_messages(header.sub(16, header.u32(8)));
        return;
      }
      flags_ = header.u8(5);
      uint64_t at = 6 + (flags_ & 0x20 ? 16 : 0) + (flags_ & 0x10 ? 4 : 0);
      const unsigned width = 1u << (flags_ & 3);
      const uint64_t size = header.number(at, width);
      read_messages(header.sub(at + width, size));
      return;
    }
    const Bytes bytes = file_.sub(block.address, block.length);
    if (!new_format_) {
      read_messages(bytes);
    } else if (bytes.size() >= 8 && bytes.text(0, 4) == "OCHK") {
      read_messages(bytes.sub(4, bytes.size() - 8));
    }
  }

  void read_messages(Bytes block) {
    const uint64_t head = new_format_ ? 4 + (flags_ & 4 ? 2 : 0) : 8;
    for (uint64_t at = 0; block.has(at, head) && ++messages_ < kMostMessages;) {
      const uint32_t type = new_format_ ? block.u8(at) : block.u16(at);
      const uint64_t size = block.u16(at + (new_format_ ? 1 : 2));
      const Bytes message = block.sub(at + head, size);
      if (type == kContinuation) {
        blocks_.push_back({offset(message, 0), length(message, offset_size_), false});
      } else if (type == kAttribute) {
        read_attribute(message);
      }
      at += head + size;
    }
  }

  void read_attribute(Bytes m) {
    const uint8_t version = m.u8(0);
    const uint64_t name_size = m.u16(2), type_size = m.u16(4), space_size = m.u16(6);
    const auto step = [&](uint64_t size) { return version == 1 ? padded(size) : size; };
    uint64_t at = version == 3 ? 9 : 8;
    const std::string name(m.sub(at, name_size).c_string(0));
    at += step(name_size);
    const Bytes type = m.sub(at, type_size);
    at += step(type_size);
    const bool scalar = m.sub(at, space_size).u8(1) == 0;
    at += step(space_size);
    const uint8_t kind = type.u8(0) & 0x0f;
    const Bytes data = m.from(at);
    const bool shared = version > 1 && (m.u8(1) & 3) != 0;
    if (!shared && scalar && kind == 3) {
      const std::string_view text = data.text(0, type.u32(4));
      result_.text[name] = std::string(text.substr(0, text.find('\0')));
    } else if (!shared && scalar && kind == 9 && (type.u8(1) & 0x0f) == 1) {
      result_.text[name] = heap_text(offset(data, 4), data.u32(4 + offset_size_), data.u32(0));
    } else {
      ++result_.others;
    }
  }

  std::string heap_text(uint64_t collection, uint32_t wanted, uint64_t size) {
    const Bytes heap = file_.from(collection);
    if (heap.text(0, 4) != "GCOL") fail(ErrorKind::bad_file, "hdf5", "no heap where an attribute points");
    const Bytes objects = heap.sub(0, length(heap, 8));
    const uint64_t head = 8 + uint64_t{length_size_};
    for (uint64_t at = 8 + uint64_t{length_size_}; objects.has(at, head);) {
      const uint16_t index = objects.u16(at);
      const uint64_t object_size = length(objects, at + 8);
      if (index == wanted)
        return std::string(objects.text(at + head, std::min({size, object_size, kLongest})));
      if (index == 0 || object_size > objects.size()) break;
      at += head + padded(object_size);
    }
    fail(ErrorKind::bad_file, "hdf5", "an attribute's text is not in its heap");
  }

  Bytes file_;
  uint64_t whole_size_ = 0;
  unsigned offset_size_ = 8, length_size_ = 8;
  uint64_t root_ = 0;
  bool new_format_ = false;
  uint8_t flags_ = 0;
  size_t messages_ = 0;
  std::vector<Block> blocks_;
  Hdf5Root result_;
};

// The superblock is at 0, or behind a user block of 512, 1024, 2048 ... bytes.
std::optional<uint64_t> find_superblock(Bytes file) {
  for (uint64_t at = 0; file.has(at, kSignature.size() + 8); at = at == 0 ? 512 : 2 * at) {
    if (file.text(at, kSignature.size()) == kSignature) return at;
  }
  return std::nullopt;
}

}  // namespace

bool looks_like_hdf5(Bytes file) { return find_superblock(file).has_value(); }

bool is_open_for_writing(Bytes file) {
  const std::optional<uint64_t> start = find_superblock(file);
  if (!start || !file.has(*start, 12)) return false;
  constexpr uint8_t kWriting = 1, kWritingShared = 4;  // SWMR
  return file.u8(*start + 8) == 3 && (file.u8(*start + 11) & (kWriting | kWritingShared)) == kWriting;
}

Hdf5Root read_hdf5_root(Bytes file) {
  const std::optional<uint64_t> start = find_superblock(file);
  if (!start) fail(ErrorKind::bad_file, "hdf5", "expected an HDF5 file");
  // Addresses count from the superblock (the base address says the same), the end from the start of the file.
  return Reader(file.from(*start), file.size()).read();
}

void check_hdf5_end(Bytes head, uint64_t whole_size) {
  const std::optional<uint64_t> start = find_superblock(head);
  if (!start || *start > whole_size) fail(ErrorKind::bad_file, "hdf5", "expected an HDF5 file");
  Reader(head.from(*start), whole_size).check_end();
}

}  // namespace plimsoll::doctor
