#include "train/checkpoint.h"

#include <zlib.h>

#include <cstring>

#include "common/file_source.h"
#include "common/files.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

constexpr std::string_view kMagic = "PLMCKPT1";
constexpr uint64_t kMostName = 4096;
constexpr size_t kAtOnce = size_t{1} << 30;  // zlib counts in 32 bits

uint32_t crc_of(uint32_t crc, const void* bytes, uint64_t size) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  for (; size > 0;) {
    const auto part = static_cast<uInt>(std::min<uint64_t>(size, kAtOnce));
    crc = static_cast<uint32_t>(::crc32(crc, at, part));
    at += part;
    size -= part;
  }
  return crc;
}

class Writer {
 public:
  explicit Writer(NewFile& file) : file_(file) {}
  void bytes(const void* data, uint64_t size) {
    crc_ = crc_of(crc_, data, size);
    file_.write(data, size);
  }
  void number(uint64_t value) {
    unsigned char raw[8];
    for (int i = 0; i < 8; ++i) raw[i] = static_cast<unsigned char>(value >> (8 * i));
    bytes(raw, sizeof raw);
  }
  uint32_t crc() const { return crc_; }

 private:
  NewFile& file_;
  uint32_t crc_ = 0;
};

class Reader {
 public:
  explicit Reader(FileSource file) : file_(std::move(file)) {}
  void bytes(void* into, uint64_t size) {
    file_.read(at_, into, size);
    crc_ = crc_of(crc_, into, size);
    at_ += size;
  }
  uint64_t number() {
    unsigned char raw[8];
    bytes(raw, sizeof raw);
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value |= uint64_t{raw[i]} << (8 * i);
    return value;
  }
  uint64_t left() const { return file_.size() - at_; }
  uint32_t crc() const { return crc_; }
  [[noreturn]] void bad(std::string_view what) const {
    fail(ErrorKind::bad_file, file_.name(), "is no whole checkpoint: ", what, " at byte ", at_);
  }

 private:
  FileSource file_;
  uint64_t at_ = 0;
  uint32_t crc_ = 0;
};

NamedTensor read_record(Reader& in) {
  const uint64_t name_size = in.number();
  if (name_size > kMostName || name_size > in.left()) in.bad("a name that is too long");
  std::string name(name_size, ' ');
  in.bytes(name.data(), name_size);
  const uint64_t dtype = in.number();
  const uint64_t rank = in.number();
  if (dtype >= static_cast<uint64_t>(kDTypeCount) || rank > static_cast<uint64_t>(Shape::kMaxRank))
    in.bad("an unknown type");
  std::vector<int64_t> sizes;
  for (uint64_t i = 0; i < rank; ++i) {
    const uint64_t size = in.number();
    if (size > static_cast<uint64_t>(INT64_MAX)) in.bad("a size out of range");
    sizes.push_back(static_cast<int64_t>(size));
  }
  uint64_t bytes = size_of(static_cast<DType>(dtype));
  for (const int64_t size : sizes) {
    if (size != 0 && bytes > in.left() / static_cast<uint64_t>(size)) in.bad("a tensor larger than the file");
    bytes *= static_cast<uint64_t>(size);
  }
  if (bytes > in.left()) in.bad("a tensor larger than the file");
  Tensor value = Tensor::empty(static_cast<DType>(dtype), Shape(sizes));
  in.bytes(value.data(), bytes);
  return {std::move(name), std::move(value)};
}

}  // namespace

void write_checkpoint(const std::filesystem::path& path, const std::vector<NamedTensor>& records) {
  write_atomically(path, [&](NewFile& file) {
    Writer out(file);
    out.bytes(kMagic.data(), kMagic.size());
    out.number(records.size());
    for (const NamedTensor& r : records) {
      out.number(r.name.size());
      out.bytes(r.name.data(), r.name.size());
      out.number(static_cast<uint64_t>(r.value.dtype()));
      out.number(static_cast<uint64_t>(r.value.rank()));
      for (const int64_t size : r.value.shape()) out.number(static_cast<uint64_t>(size));
      out.bytes(r.value.data(), static_cast<uint64_t>(byte_size(r.value.dtype(), r.value.shape())));
    }
    out.number(out.crc());
  });
}

std::vector<NamedTensor> read_checkpoint(const std::filesystem::path& path) {
  Reader in(FileSource::open(path));
  char magic[kMagic.size()];
  if (in.left() < sizeof magic) in.bad("no beginning");
  in.bytes(magic, sizeof magic);
  if (std::string_view(magic, sizeof magic) != kMagic) in.bad("another beginning");
  const uint64_t count = in.number();
  std::vector<NamedTensor> records;
  for (uint64_t i = 0; i < count; ++i) records.push_back(read_record(in));
  const uint32_t crc = in.crc();
  if (in.number() != crc) in.bad("a wrong checksum");
  if (in.left() != 0) in.bad("bytes behind the end");
  return records;
}

}  // namespace plimsoll
