#include "data/source.h"

#include <algorithm>
#include <cstring>

#include "plimsoll/error.h"

namespace plimsoll::data {

char* Bytes::resize(int64_t size) {
  if (buffer_ == nullptr || buffer_->bytes() < size) {
    const int64_t room = buffer_ ? std::max(size, buffer_->bytes() + buffer_->bytes() / 2) : size;
    buffer_.reset();
    size_ = 0;
    buffer_ = Buffer::make(room, Owner::staging);
  }
  size_ = size;
  return data();
}

void Bytes::assign(std::string_view bytes) {
  resize(static_cast<int64_t>(bytes.size()));
  if (!bytes.empty()) std::memcpy(data(), bytes.data(), bytes.size());
}

void Bytes::append(std::string_view bytes) {
  if (bytes.empty()) return;
  const int64_t old = size_;
  const int64_t wanted = old + static_cast<int64_t>(bytes.size());
  if (buffer_ == nullptr || buffer_->bytes() < wanted) {
    std::shared_ptr<Buffer> larger = Buffer::make(std::max(wanted, 2 * old), Owner::staging);
    if (old > 0) std::memcpy(larger->data(), data(), static_cast<size_t>(old));
    buffer_ = std::move(larger);
  }
  std::memcpy(data() + old, bytes.data(), bytes.size());
  size_ = wanted;
}

const std::vector<std::string>& Source::class_names() const {
  static const std::vector<std::string> none;
  return none;
}

void Source::read(std::span<const int64_t>, const Rows&, int64_t, Scratch&) const {
  fail(ErrorKind::internal, "dataset", "a stream was read by record number");
}

std::unique_ptr<RawStream> Source::open(int64_t) const {
  fail(ErrorKind::internal, "dataset", "a source with random access was opened as a stream");
}

void Source::decode(const RawRecord&, const Rows&, int64_t) const {
  fail(ErrorKind::internal, "dataset", "a source with random access was asked to decode");
}

}  // namespace plimsoll::data
