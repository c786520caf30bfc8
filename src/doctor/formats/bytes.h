// Bytes is a view of untrusted bytes (a file somebody else wrote) in which every read is checked:
// outside the view it throws Error{bad_file}, so that a parser needs no size checks of its own.
// The bytes belong to someone else, mostly a MappedFile, and must outlive the view.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "plimsoll/error.h"

namespace plimsoll::doctor {

class Bytes {
 public:
  Bytes() = default;
  Bytes(const void* data, size_t size, bool big_endian = false)
      : data_(static_cast<const unsigned char*>(data)), size_(size), big_endian_(big_endian) {}
  explicit Bytes(std::string_view text) : Bytes(text.data(), text.size()) {}

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool big_endian() const { return big_endian_; }
  Bytes with_endian(bool big) const { return {data_, size_, big}; }
  bool has(uint64_t offset, uint64_t length) const { return offset <= size_ && length <= size_ - offset; }

  uint8_t u8(uint64_t offset) const { return load<uint8_t>(offset); }
  uint16_t u16(uint64_t offset) const { return load<uint16_t>(offset); }
  uint32_t u32(uint64_t offset) const { return load<uint32_t>(offset); }
  uint64_t u64(uint64_t offset) const { return load<uint64_t>(offset); }
  // An unsigned number of `width` bytes, 1 to 8, little-endian.
  uint64_t number(uint64_t offset, unsigned width) const {
    check(offset, width);
    uint64_t value = 0;
    for (unsigned i = 0; i < width && i < 8; ++i) value |= uint64_t{data_[offset + i]} << (8 * i);
    return value;
  }

  // The `length` bytes at `offset`.
  Bytes sub(uint64_t offset, uint64_t length) const {
    check(offset, length);
    return {data_ + offset, static_cast<size_t>(length), big_endian_};
  }
  // All bytes from `offset` on.
  Bytes from(uint64_t offset) const {
    check(offset, 0);
    return {data_ + offset, size_ - static_cast<size_t>(offset), big_endian_};
  }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
  std::string_view text(uint64_t offset, uint64_t length) const { return sub(offset, length).text(); }
  // The characters at `offset` up to the next NUL, which must lie inside the view.
  std::string_view c_string(uint64_t offset) const {
    const std::string_view rest = from(offset).text();
    const size_t end = rest.find('\0');
    if (end == std::string_view::npos) fail(ErrorKind::bad_file, "bytes", "a string without an end");
    return rest.substr(0, end);
  }

 private:
  void check(uint64_t offset, uint64_t length) const {
    if (!has(offset, length)) [[unlikely]] {
      fail(ErrorKind::bad_file, "bytes", "expected ", length, " bytes at ", offset, ", got a file of ",
           size_);
    }
  }
  template <class T>
  T load(uint64_t offset) const {
    check(offset, sizeof(T));
    T value;
    std::memcpy(&value, data_ + offset, sizeof(T));
    if (big_endian_ == (std::endian::native == std::endian::big)) return value;
    T swapped = 0;
    for (size_t i = 0; i < sizeof(T); ++i) {
      swapped = static_cast<T>((uint64_t{swapped} << 8) | ((uint64_t{value} >> (8 * i)) & 0xff));
    }
    return swapped;
  }

  const unsigned char* data_ = nullptr;
  size_t size_ = 0;
  bool big_endian_ = false;
};

}  // namespace plimsoll::doctor
