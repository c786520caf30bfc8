// The types an element of a tensor can have, with the promotion rules of Keras 3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#pragma GCC visibility push(default)
namespace plimsoll {

// The numbers are part of the device ABI (device.h): append, never renumber.
enum class DType : uint8_t {
  boolean = 0,
  u8 = 1,
  u16 = 2,
  u32 = 3,
  u64 = 4,
  i8 = 5,
  i16 = 6,
  i32 = 7,
  i64 = 8,
  f16 = 9,
  bf16 = 10,
  f32 = 11,
  f64 = 12,
  c64 = 13,
  c128 = 14,  // two f32, two f64
};
inline constexpr int kDTypeCount = 15;

size_t size_of(DType t);
// Keras's spelling: "bool", "uint8", ..., "float16", "bfloat16", "float32", "complex64".
std::string_view name_of(DType t);
std::optional<DType> dtype_from_name(std::string_view name);

constexpr bool is_float(DType t) { return t >= DType::f16 && t <= DType::f64; }
constexpr bool is_complex(DType t) { return t >= DType::c64; }
constexpr bool is_signed_int(DType t) { return t >= DType::i8 && t <= DType::i64; }
constexpr bool is_unsigned_int(DType t) { return t >= DType::u8 && t <= DType::u64; }
constexpr bool is_integer(DType t) { return is_signed_int(t) || is_unsigned_int(t); }

// The type two operands meet in (JAX's lattice without weak types, which Keras uses).
DType promote(DType a, DType b);

}  // namespace plimsoll
#pragma GCC visibility pop
