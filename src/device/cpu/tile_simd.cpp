#include "device/cpu/highway.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/tile_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "common/half.h"
#include "device/cpu/tile_simd.h"
#include "device/cpu/typed.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The folds. combine() works on single elements; what it says about NaN (it wins) holds for vectors too.
struct Sum {
  template <class T>
  static constexpr T identity() {
    return T(0);
  }
  template <class T>
  static T combine(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                            static_cast<std::make_unsigned_t<T>>(b));
    } else {
      return a + b;
    }
  }
};
struct Prod {
  template <class T>
  static constexpr T identity() {
    return T(1);
  }
  template <class T>
  static T combine(T a, T b) {
    // Via u64: the product of two u16 would overflow int.
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else
      return a * b;
  }
};
struct Max {
  template <class T>
  static constexpr T identity() {
    return std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                       : std::numeric_limits<T>::lowest();
  }
  template <class T>
  static T combine(T a, T b) {
    return (b > a || is_nan(b)) ? b : a;
  }
};
struct Min {
  template <class T>
  static constexpr T identity() {
    return std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  }
  template <class T>
  static T combine(T a, T b) {
    return (b < a || is_nan(b)) ? b : a;
  }
};
struct And {
  template <class T>
  static constexpr T identity() {
    return T(1);
  }
  template <class T>
  static T combine(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static constexpr T identity() {
    return T(0);
  }
  template <class T>
  static T combine(T a, T b) {
    return static_cast<T>(a | b);
  }
};

// Sums and products of floats are kept in f64.
template <class Op, class T>
using Acc =
    std::conditional_t<std::is_same_v<T, float> && (std::is_same_v<Op, Sum> || std::is_same_v<Op, Prod>),
                       double, T>;

// Many partial results side by side: independent additions, a fixed order, and short sums in f32.
template <class Op, class T>
void run(const void* x, size_t n, void* acc) {
  using A = Acc<Op, T>;
  const T* p = static_cast<const T*>(x);
  A* total = static_cast<A*>(acc);
  constexpr size_t kLanes = 64 / sizeof(T) * 2;
  A result = *total;
  while (n >= kLanes) {
    // Sixteen rounds bound the error of f32 sums; what is exact needs no bound.
    const size_t most = std::is_same_v<A, T> ? n / kLanes : std::min<size_t>(n / kLanes, 16);
    T lanes[kLanes];
    for (size_t i = 0; i < kLanes; ++i) lanes[i] = p[i];
    for (size_t round = 1; round < most; ++round) {
      const T* q = p + round * kLanes;
      for (size_t i = 0; i < kLanes; ++i) lanes[i] = Op::combine(lanes[i], q[i]);
    }
    for (size_t half = kLanes / 2; half >= 4; half /= 2) {
      for (size_t i = 0; i < half; ++i) lanes[i] = Op::combine(lanes[i], lanes[i + half]);
    }
    for (size_t i = 0; i < 4; ++i) result = Op::combine(result, static_cast<A>(lanes[i]));
    p += most * kLanes;
    n -= most * kLanes;
  }
  for (size_t i = 0; i < n; ++i) result = Op::combine(result, static_cast<A>(p[i]));
  *total = result;
}

// Sums of f32: vectors of f32 over at most 16 rounds, then f64.
template <>
void run<Sum, float>(const void* x, size_t n, void* acc) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  const float* p = static_cast<const float*>(x);
  double total = *static_cast<double*>(acc);
  while (n >= lanes) {
    auto a = hn::Zero(d), b = a, c = a, e = a;
    size_t i = 0;
    const size_t most = n < 64 * lanes ? n : 64 * lanes;
    for (; i + 4 * lanes <= most; i += 4 * lanes) {
      a = hn::Add(a, hn::LoadU(d, p + i));
      b = hn::Add(b, hn::LoadU(d, p + i + lanes));
      c = hn::Add(c, hn::LoadU(d, p + i + 2 * lanes));
      e = hn::Add(e, hn::LoadU(d, p + i + 3 * lanes));
    }
    for (; i + lanes <= most; i += lanes) a = hn::Add(a, hn::LoadU(d, p + i));
    total += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e)))));
    p += i;
    n -= i;
  }
  for (size_t i = 0; i < n; ++i) total += static_cast<double>(p[i]);
  *static_cast<double*>(acc) = total;
}

template <class Op, class T>
void columns(const void* x, size_t n, void* acc) {
  using A = Acc<Op, T>;
  const T* HWY_RESTRICT p = static_cast<const T*>(x);
  A* HWY_RESTRICT a = static_cast<A*>(acc);
  for (size_t i = 0; i < n; ++i) a[i] = Op::combine(a[i], static_cast<A>(p[i]));
}

template <class Op, class A>
void start(void* acc, size_t n) {
  std::fill_n(static_cast<A*>(acc), n, Op::template identity<A>());
}

template <class A, class T>
void finish(const void* acc, size_t n, void* out) {
  const A* HWY_RESTRICT a = static_cast<const A*>(acc);
  T* HWY_RESTRICT o = static_cast<T*>(out);
  for (size_t i = 0; i < n; ++i) o[i] = static_cast<T>(a[i]);
}

template <class Op, class T>
FoldFns fold_of() {
  using A = Acc<Op, T>;
  return {run<Op, T>, columns<Op, T>, columns<Op, A>, start<Op, A>, finish<A, T>, sizeof(A)};
}

template <class T>
FoldFns fold_of(Fold kind) {
  switch (kind) {
    case Fold::sum: return fold_of<Sum, T>();
    case Fold::prod: return fold_of<Prod, T>();
    case Fold::max: return fold_of<Max, T>();
    case Fold::min: return fold_of<Min, T>();
    default: return {};
  }
}

FoldFns Folds(Fold kind, DType dtype) {
  switch (dtype) {
    case DType::boolean:
      if (kind == Fold::logical_and || kind == Fold::min) return fold_of<And, uint8_t>();
      if (kind == Fold::logical_or || kind == Fold::max) return fold_of<Or, uint8_t>();
      return {};
    case DType::u8: return fold_of<uint8_t>(kind);
    case DType::u16: return fold_of<uint16_t>(kind);
    case DType::u32: return fold_of<uint32_t>(kind);
    case DType::u64: return fold_of<uint64_t>(kind);
    case DType::i8: return fold_of<int8_t>(kind);
    case DType::i16: return fold_of<int16_t>(kind);
    case DType::i32: return fold_of<int32_t>(kind);
    case DType::i64: return fold_of<int64_t>(kind);
    case DType::f16:
    case DType::bf16:
    case DType::f32: return fold_of<float>(kind);
    case DType::f64: return fold_of<double>(kind);
    default: return {};
  }
}

#undef PLIMSOLL_SCALAR_F16
#if HWY_TARGET > HWY_AVX2 && HWY_ARCH_X86
#define PLIMSOLL_SCALAR_F16 1  // Highway's emulation before F16C does not round
#elif HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
#define PLIMSOLL_SCALAR_F16 1
#else
#define PLIMSOLL_SCALAR_F16 0
#endif

void WidenF16(const void* const* in, void* out, size_t n, const double*) {
  const uint16_t* x = static_cast<const uint16_t*>(in[0]);
  float* y = static_cast<float*>(out);
  size_t i = 0;
#if !PLIMSOLL_SCALAR_F16
  const hn::ScalableTag<float> df;
  const hn::Rebind<hwy::float16_t, decltype(df)> dh;
  for (const size_t lanes = hn::Lanes(df); i + lanes <= n; i += lanes) {
    hn::StoreU(hn::PromoteTo(df, hn::LoadU(dh, reinterpret_cast<const hwy::float16_t*>(x + i))), df, y + i);
  }
#endif
  for (; i < n; ++i) y[i] = f16_to_float(x[i]);
}

void NarrowF16(const void* const* in, void* out, size_t n, const double*) {
  const float* x = static_cast<const float*>(in[0]);
  uint16_t* y = static_cast<uint16_t*>(out);
  size_t i = 0;
#if !PLIMSOLL_SCALAR_F16
  const hn::ScalableTag<float> df;
  const hn::Rebind<hwy::float16_t, decltype(df)> dh;
  for (const size_t lanes = hn::Lanes(df); i + lanes <= n; i += lanes) {
    hn::StoreU(hn::DemoteTo(dh, hn::LoadU(df, x + i)), dh, reinterpret_cast<hwy::float16_t*>(y + i));
  }
#endif
  for (; i < n; ++i) y[i] = float_to_f16(x[i]);
}

void RoundF16(const void* const* in, void* out, size_t n, const double*) {
  const float* x = static_cast<const float*>(in[0]);
  float* y = static_cast<float*>(out);
  size_t i = 0;
#if !PLIMSOLL_SCALAR_F16
  const hn::ScalableTag<float> df;
  const hn::Rebind<hwy::float16_t, decltype(df)> dh;
  for (const size_t lanes = hn::Lanes(df); i + lanes <= n; i += lanes) {
    hn::StoreU(hn::PromoteTo(df, hn::DemoteTo(dh, hn::LoadU(df, x + i))), df, y + i);
  }
#endif
  for (; i < n; ++i) y[i] = f16_to_float(float_to_f16(x[i]));
}

void WidenBf16(const void* const* in, void* out, size_t n, const double*) {
  const uint16_t* x = static_cast<const uint16_t*>(in[0]);
  float* y = static_cast<float*>(out);
  for (size_t i = 0; i < n; ++i) y[i] = bf16_to_float(x[i]);
}

void NarrowBf16(const void* const* in, void* out, size_t n, const double*) {
  const float* x = static_cast<const float*>(in[0]);
  uint16_t* y = static_cast<uint16_t*>(out);
  for (size_t i = 0; i < n; ++i) y[i] = float_to_bf16(x[i]);
}

void RoundBf16(const void* const* in, void* out, size_t n, const double*) {
  const float* x = static_cast<const float*>(in[0]);
  float* y = static_cast<float*>(out);
  for (size_t i = 0; i < n; ++i) y[i] = bf16_to_float(float_to_bf16(x[i]));
}

HalfFns Halves(DType dtype) {
  if (dtype == DType::f16) return {WidenF16, NarrowF16, RoundF16};
  return {WidenBf16, NarrowBf16, RoundBf16};
}

}  // namespace plimsoll::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll {
HWY_EXPORT(Folds);
HWY_EXPORT(Halves);

FoldFns fold_functions(Fold kind, DType dtype) { return HWY_DYNAMIC_DISPATCH(Folds)(kind, dtype); }
HalfFns half_functions(DType dtype) { return HWY_DYNAMIC_DISPATCH(Halves)(dtype); }

}  // namespace plimsoll
#endif
