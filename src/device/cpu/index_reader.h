// Reads integers of any dtype as int64: class labels, rows of a table.
#pragma once

#include <cstdint>

#include "plimsoll/dtype.h"

namespace plimsoll {

// Requires: is_integer(dtype). A uint64 above the range of int64 comes out negative, that is, out of range.
inline int64_t read_index(DType dtype, const void* p, int64_t i) {
  switch (dtype) {
    case DType::u8: return static_cast<const uint8_t*>(p)[i];
    case DType::u16: return static_cast<const uint16_t*>(p)[i];
    case DType::u32: return static_cast<const uint32_t*>(p)[i];
    case DType::u64: return static_cast<int64_t>(static_cast<const uint64_t*>(p)[i]);
    case DType::i8: return static_cast<const int8_t*>(p)[i];
    case DType::i16: return static_cast<const int16_t*>(p)[i];
    case DType::i32: return static_cast<const int32_t*>(p)[i];
    default: return static_cast<const int64_t*>(p)[i];
  }
}

// The row an index means, as take() reads it: negative ones count from the end, what is still outside is
// clamped. Requires: rows > 0.
inline int64_t wrap_index(int64_t index, int64_t rows) {
  if (index < 0) index = index < -rows ? 0 : index + rows;
  return index < rows ? index : rows - 1;
}

}  // namespace plimsoll
