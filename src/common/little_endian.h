// LittleEndian: checked reads of little-endian numbers and text from untrusted bytes: outside of them it
// throws Error{bad_file}, so that a parser needs no size checks of its own. The bytes must outlive the view.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plimsoll/error.h"

namespace plimsoll {

class LittleEndian {
 public:
  LittleEndian(std::string_view bytes, const std::string& place) : bytes_(bytes), place_(&place) {}

  uint64_t size() const { return bytes_.size(); }
  uint16_t u16(uint64_t at) const { return static_cast<uint16_t>(number(at, 2)); }
  uint32_t u32(uint64_t at) const { return static_cast<uint32_t>(number(at, 4)); }
  uint64_t u64(uint64_t at) const { return number(at, 8); }
  std::string_view text(uint64_t at, uint64_t count) const {
    if (at > size() || count > size() - at) {
      fail(ErrorKind::bad_file, *place_, "expected ", count, " bytes at ", at, " of ", size(),
           ": cut off or damaged");
    }
    return bytes_.substr(at, count);
  }
  LittleEndian sub(uint64_t at, uint64_t count) const { return {text(at, count), *place_}; }

 private:
  uint64_t number(uint64_t at, unsigned width) const {
    const std::string_view digits = text(at, width);
    uint64_t value = 0;
    for (unsigned i = 0; i < width; ++i) value |= uint64_t{static_cast<unsigned char>(digits[i])} << (8 * i);
    return value;
  }

  std::string_view bytes_;
  const std::string* place_;
};

}  // namespace plimsoll
