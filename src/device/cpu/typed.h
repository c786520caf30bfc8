// Kernels written once for every real dtype: with_type() calls a generic function with the C++ type that an
// element of the dtype is loaded as. Half floats are loaded as float and stored rounded.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "common/half.h"
#include "plimsoll/dtype.h"
#include "plimsoll/error.h"

namespace plimsoll {

struct HalfBits {
  uint16_t bits;
};  // float16
struct BrainBits {
  uint16_t bits;
};  // bfloat16

template <class T>
struct Loaded {
  using type = T;
};
template <>
struct Loaded<HalfBits> {
  using type = float;
};
template <>
struct Loaded<BrainBits> {
  using type = float;
};

template <class T>
inline constexpr bool kIsHalf = !std::is_same_v<T, typename Loaded<T>::type>;

template <class T>
typename Loaded<T>::type load(const T& x) {
  return x;
}
inline float load(const HalfBits& x) { return f16_to_float(x.bits); }
inline float load(const BrainBits& x) { return bf16_to_float(x.bits); }
template <class T>
void store(T& to, T value) {
  to = value;
}
inline void store(HalfBits& to, float value) { to.bits = float_to_f16(value); }
inline void store(BrainBits& to, float value) { to.bits = float_to_bf16(value); }

// False for integers.
template <class T>
bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(x);
  else
    return false;
}

// f(T{}) with the storage type T of `dtype`; bools are uint8_t. Throws Error{unsupported} for complex ones.
template <class F>
auto with_type(DType dtype, std::string_view op, const F& f) {
  switch (dtype) {
    case DType::boolean:
    case DType::u8: return f(uint8_t{});
    case DType::u16: return f(uint16_t{});
    case DType::u32: return f(uint32_t{});
    case DType::u64: return f(uint64_t{});
    case DType::i8: return f(int8_t{});
    case DType::i16: return f(int16_t{});
    case DType::i32: return f(int32_t{});
    case DType::i64: return f(int64_t{});
    case DType::f16: return f(HalfBits{});
    case DType::bf16: return f(BrainBits{});
    case DType::f32: return f(float{});
    case DType::f64: return f(double{});
    default: fail(ErrorKind::unsupported, op, "no kernel for ", dtype);
  }
}

// The same for floats alone. Throws Error{unsupported} for the others.
template <class F>
auto with_float(DType dtype, std::string_view op, const F& f) {
  switch (dtype) {
    case DType::f16: return f(HalfBits{});
    case DType::bf16: return f(BrainBits{});
    case DType::f32: return f(float{});
    case DType::f64: return f(double{});
    default: fail(ErrorKind::unsupported, op, "no kernel for ", dtype);
  }
}

}  // namespace plimsoll
