#include "common/zip_writer.h"

#include <zlib.h>

#include <algorithm>
#include <memory>

namespace plimsoll {
namespace {

constexpr uint64_t kNarrow = 0xffffffff;
constexpr uint16_t kVersion = 45;  // the first with zip64
// 1980-01-01, as archives say that have no times: equal models make equal files.
constexpr uint32_t kDate = 0x00210000;

class Record {
 public:
  explicit Record(uint32_t mark) { number(mark, 4); }
  Record& number(uint64_t value, unsigned width) {
    for (unsigned i = 0; i < width; ++i) bytes_ += static_cast<char>(value >> (8 * i));
    return *this;
  }
  Record& text(std::string_view t) {
    bytes_ += t;
    return *this;
  }
  void write(NewFile& file) const { file.write(bytes_.data(), bytes_.size()); }

 private:
  std::string bytes_;
};

uint64_t narrow(uint64_t value) { return std::min(value, kNarrow); }

template <class Each>
void each_block(const FileSource& source, Each&& each) {
  constexpr uint64_t kBlock = 1u << 20;
  const auto block = std::make_unique<char[]>(kBlock);
  for (uint64_t at = 0; at < source.size();) {
    const uint64_t count = std::min(kBlock, source.size() - at);
    source.read(at, block.get(), count);
    each(block.get(), count);
    at += count;
  }
}

uint32_t add_crc(uint32_t crc, const void* bytes, uint64_t count) {
  if (count == 0) return crc;  // zlib takes a null pointer for a new beginning
  return static_cast<uint32_t>(::crc32_z(crc, static_cast<const Bytef*>(bytes), count));
}

}  // namespace

void ZipWriter::begin(std::string_view name, uint32_t crc, uint64_t size) {
  entries_.push_back({std::string(name), crc, size, file_.position()});
  const bool wide = size >= kNarrow;
  Record local(0x04034b50);
  local.number(kVersion, 2).number(0, 2).number(0, 2).number(kDate, 4).number(crc, 4);
  local.number(narrow(size), 4)
      .number(narrow(size), 4)
      .number(name.size(), 2)
      .number(wide ? 20 : 0, 2)
      .text(name);
  if (wide) local.number(1, 2).number(16, 2).number(size, 8).number(size, 8);
  local.write(file_);
}

void ZipWriter::add(std::string_view name, std::string_view bytes) { add(name, std::vector{bytes}); }

void ZipWriter::add(std::string_view name, const std::vector<std::string_view>& parts) {
  uint32_t crc = 0;
  uint64_t size = 0;
  for (const std::string_view part : parts) {
    crc = add_crc(crc, part.data(), part.size());
    size += part.size();
  }
  begin(name, crc, size);
  for (const std::string_view part : parts) file_.write(part.data(), part.size());
}

void ZipWriter::add(std::string_view name, const FileSource& contents) {
  uint32_t crc = 0;
  each_block(contents, [&](const char* bytes, uint64_t count) { crc = add_crc(crc, bytes, count); });
  begin(name, crc, contents.size());
  each_block(contents, [&](const char* bytes, uint64_t count) { file_.write(bytes, count); });
}

void ZipWriter::finish() {
  const uint64_t start = file_.position();
  for (const Entry& e : entries_) {
    const unsigned wide = (e.size >= kNarrow ? 16 : 0) + (e.header >= kNarrow ? 8 : 0);
    Record entry(0x02014b50);
    entry.number(3u << 8 | kVersion, 2).number(kVersion, 2).number(0, 2).number(0, 2).number(kDate, 4);
    entry.number(e.crc, 4).number(narrow(e.size), 4).number(narrow(e.size), 4).number(e.name.size(), 2);
    entry.number(wide ? wide + 4 : 0, 2).number(0, 2).number(0, 2).number(0, 2).number(0600u << 16, 4);
    entry.number(narrow(e.header), 4).text(e.name);
    if (wide) entry.number(1, 2).number(wide, 2);
    if (e.size >= kNarrow) entry.number(e.size, 8).number(e.size, 8);
    if (e.header >= kNarrow) entry.number(e.header, 8);
    entry.write(file_);
  }
  const uint64_t end = file_.position(), size = end - start, count = entries_.size();
  if (start >= kNarrow) {
    Record wide(0x06064b50);
    wide.number(44, 8).number(kVersion, 2).number(kVersion, 2).number(0, 4).number(0, 4);
    wide.number(count, 8).number(count, 8).number(size, 8).number(start, 8).write(file_);
    Record(0x07064b50).number(0, 4).number(end, 8).number(1, 4).write(file_);
  }
  Record last(0x06054b50);
  last.number(0, 4).number(count, 2).number(count, 2).number(size, 4).number(narrow(start), 4).number(0, 2);
  last.write(file_);
}

}  // namespace plimsoll
