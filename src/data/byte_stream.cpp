#include "data/byte_stream.h"

#include <zlib.h>

#include <algorithm>

#include "data/source.h"
#include "plimsoll/error.h"

namespace plimsoll::data {
namespace {

constexpr int64_t kBlock = 64 << 10;

class FileStream final : public ByteStream {
 public:
  explicit FileStream(FileSource file) : file_(std::move(file)) {}
  void read(void* into, uint64_t count) override {
    file_.read(at_, into, count);
    at_ += count;
  }
  uint64_t size() const override { return file_.size(); }

 private:
  FileSource file_;
  uint64_t at_ = 0;
};

class InflateStream final : public ByteStream {
 public:
  InflateStream(FileSource packed, uint64_t size, uint32_t crc)
      : packed_(std::move(packed)), size_(size), wanted_(crc) {
    if (::inflateInit2(&z_, -MAX_WBITS) != Z_OK)
      fail(ErrorKind::out_of_memory, packed_.name(), "zlib cannot start");
  }
  ~InflateStream() override { ::inflateEnd(&z_); }
  uint64_t size() const override { return size_; }

  void read(void* into, uint64_t count) override {
    if (count > size_ - done_) damaged("ends too early");
    auto* to = static_cast<Bytef*>(into);
    while (count > 0) {
      const uint64_t got = inflate_some(to, std::min<uint64_t>(count, 1u << 30));
      crc_ = ::crc32_z(crc_, to, got);
      to += got;
      count -= got;
      done_ += got;
    }
    if (done_ == size_ && crc_ != wanted_) damaged("has a wrong checksum");
  }

 private:
  [[noreturn]] void damaged(std::string_view what) const {
    fail(ErrorKind::bad_file, packed_.name(), "the compressed data ", what, ", at byte ", at_, " of ",
         packed_.size());
  }

  // Up to `most` bytes, at least one.
  uint64_t inflate_some(Bytef* to, uint64_t most) {
    z_.next_out = to;
    z_.avail_out = static_cast<uInt>(most);
    while (z_.avail_out == most) {
      if (z_.avail_in == 0) refill();
      const int state = ::inflate(&z_, Z_NO_FLUSH);
      if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR) damaged("cannot be unpacked");
      if (z_.avail_out == most && (state == Z_STREAM_END || at_ == packed_.size())) damaged("ends too early");
    }
    return most - z_.avail_out;
  }

  void refill() {
    const auto count = static_cast<int64_t>(std::min<uint64_t>(kBlock, packed_.size() - at_));
    packed_.read(at_, block_.resize(count), static_cast<uint64_t>(count));
    at_ += static_cast<uint64_t>(count);
    z_.next_in = reinterpret_cast<Bytef*>(block_.data());
    z_.avail_in = static_cast<uInt>(count);
  }

  FileSource packed_;
  uint64_t size_;
  uint64_t done_ = 0;
  uint64_t at_ = 0;  // in the packed bytes
  uLong crc_ = 0;
  uint32_t wanted_;
  Bytes block_;
  z_stream z_{};
};

}  // namespace

std::unique_ptr<ByteStream> open_stream(const FileSource& file) { return std::make_unique<FileStream>(file); }

std::unique_ptr<ByteStream> open_stream(const ZipReader& zip, const ZipReader::Member& member) {
  FileSource packed = zip.packed(member, INT64_MAX);
  if (member.method == 0) return std::make_unique<FileStream>(std::move(packed));
  return std::make_unique<InflateStream>(std::move(packed), member.size, member.crc);
}

}  // namespace plimsoll::data
