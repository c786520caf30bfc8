#include "plimsoll/dtype.h"

#include <algorithm>
#include <array>

namespace plimsoll {
namespace {

struct Row {
  std::string_view name;
  size_t size;
};
constexpr std::array<Row, kDTypeCount> kRows = {{
    {"bool", 1},
    {"uint8", 1},
    {"uint16", 2},
    {"uint32", 4},
    {"uint64", 8},
    {"int8", 1},
    {"int16", 2},
    {"int32", 4},
    {"int64", 8},
    {"float16", 2},
    {"bfloat16", 2},
    {"float32", 4},
    {"float64", 8},
    {"complex64", 8},
    {"complex128", 16},
}};

const Row& row(DType t) { return kRows[static_cast<size_t>(t)]; }

DType signed_of_bits(size_t bytes) {
  return bytes <= 1 ? DType::i8 : bytes == 2 ? DType::i16 : bytes == 4 ? DType::i32 : DType::i64;
}

DType promote_integers(DType a, DType b) {
  if (is_signed_int(a) == is_signed_int(b)) return size_of(a) >= size_of(b) ? a : b;
  const DType s = is_signed_int(a) ? a : b;
  const DType u = is_signed_int(a) ? b : a;
  if (size_of(s) > size_of(u)) return s;
  if (u == DType::u64) return DType::f32;  // JAX: int and uint64 meet in a float
  return signed_of_bits(2 * size_of(u));
}

DType promote_floats(DType a, DType b) {
  if (size_of(a) != size_of(b)) return size_of(a) > size_of(b) ? a : b;
  return DType::f32;  // float16 with bfloat16
}

}  // namespace

size_t size_of(DType t) { return row(t).size; }
std::string_view name_of(DType t) { return row(t).name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  const auto it = std::find_if(kRows.begin(), kRows.end(), [&](const Row& r) { return r.name == name; });
  if (it == kRows.end()) return std::nullopt;
  return static_cast<DType>(it - kRows.begin());
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (a == DType::boolean) return b;
  if (b == DType::boolean) return a;
  if (is_complex(a) || is_complex(b)) {
    const bool wide = a == DType::c128 || b == DType::c128 || a == DType::f64 || b == DType::f64;
    return wide ? DType::c128 : DType::c64;
  }
  if (is_float(a) && is_float(b)) return promote_floats(a, b);
  if (is_float(a)) return a;
  if (is_float(b)) return b;
  return promote_integers(a, b);
}

}  // namespace plimsoll
