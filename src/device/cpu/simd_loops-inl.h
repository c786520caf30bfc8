// Loops that make tiles (TileFn) out of functions of vectors or of single elements.
#if defined(PLIMSOLL_SIMD_LOOPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIMSOLL_SIMD_LOOPS_INL_H
#undef PLIMSOLL_SIMD_LOOPS_INL_H
#else
#define PLIMSOLL_SIMD_LOOPS_INL_H
#endif

#include <hwy/highway.h>

#include <cstddef>

#include "device/cpu/highway.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::HWY_NAMESPACE::simd {
namespace hn = hwy::HWY_NAMESPACE;

// Op::vec(d, x) -> vector. What is left over at the end is computed in a padded copy.
template <class Op, class T>
void Map1(const void* const* in, void* out, size_t n, const double*) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const T* x = static_cast<const T*>(in[0]);
  T* y = static_cast<T*>(out);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(Op::vec(d, hn::LoadU(d, x + i)), d, y + i);
  if (i == n) return;
  HWY_ALIGN T padded[HWY_MAX_BYTES / sizeof(T)];
  for (size_t j = 0; j < lanes; ++j) padded[j] = x[i + (i + j < n ? j : 0)];
  hn::Store(Op::vec(d, hn::Load(d, padded)), d, padded);
  for (size_t j = 0; i + j < n; ++j) y[i + j] = padded[j];
}

template <class Op, class T>
void Map2(const void* const* in, void* out, size_t n, const double*) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const T* a = static_cast<const T*>(in[0]);
  const T* b = static_cast<const T*>(in[1]);
  T* y = static_cast<T*>(out);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(Op::vec(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, y + i);
  if (i == n) return;
  HWY_ALIGN T left[HWY_MAX_BYTES / sizeof(T)];
  HWY_ALIGN T right[HWY_MAX_BYTES / sizeof(T)];
  for (size_t j = 0; j < lanes; ++j) {
    left[j] = a[i + (i + j < n ? j : 0)];
    right[j] = b[i + (i + j < n ? j : 0)];
  }
  hn::Store(Op::vec(d, hn::Load(d, left), hn::Load(d, right)), d, left);
  for (size_t j = 0; i + j < n; ++j) y[i + j] = left[j];
}

// f64 to f32 as the C language does it: Highway's emulated form makes infinities finite.
template <class DF, class V>
HWY_INLINE hn::Vec<DF> Narrow(DF df, V v) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  const hn::Rebind<double, DF> d;
  HWY_ALIGN double wide[HWY_MAX_BYTES / sizeof(double)];
  HWY_ALIGN float narrow[HWY_MAX_BYTES / sizeof(double)];
  hn::Store(v, d, wide);
  for (size_t i = 0; i < hn::Lanes(d); ++i) narrow[i] = static_cast<float>(wide[i]);
  return hn::Load(df, narrow);
#else
  return hn::DemoteTo(df, v);
#endif
}

// f32 computed in f64: where f32 arithmetic loses too much, and speed is not first.
template <class Op>
void Map1Wide(const void* const* in, void* out, size_t n, const double*) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  const size_t lanes = hn::Lanes(d);
  const float* x = static_cast<const float*>(in[0]);
  float* y = static_cast<float*>(out);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto v = Op::vec(d, hn::PromoteTo(d, hn::LoadU(df, x + i)));
    hn::StoreU(simd::Narrow(df, v), df, y + i);
  }
  if (i == n) return;
  HWY_ALIGN double padded[HWY_MAX_BYTES / sizeof(double)];
  for (size_t j = 0; j < lanes; ++j) padded[j] = x[i + (i + j < n ? j : 0)];
  hn::Store(Op::vec(d, hn::Load(d, padded)), d, padded);
  for (size_t j = 0; i + j < n; ++j) y[i + j] = static_cast<float>(padded[j]);
}

template <class Op>
void Map2Wide(const void* const* in, void* out, size_t n, const double*) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  const size_t lanes = hn::Lanes(d);
  const float* a = static_cast<const float*>(in[0]);
  const float* b = static_cast<const float*>(in[1]);
  float* y = static_cast<float*>(out);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto v = Op::vec(d, hn::PromoteTo(d, hn::LoadU(df, a + i)), hn::PromoteTo(d, hn::LoadU(df, b + i)));
    hn::StoreU(simd::Narrow(df, v), df, y + i);
  }
  if (i == n) return;
  HWY_ALIGN double left[HWY_MAX_BYTES / sizeof(double)];
  HWY_ALIGN double right[HWY_MAX_BYTES / sizeof(double)];
  for (size_t j = 0; j < lanes; ++j) {
    left[j] = a[i + (i + j < n ? j : 0)];
    right[j] = b[i + (i + j < n ? j : 0)];
  }
  hn::Store(Op::vec(d, hn::Load(d, left), hn::Load(d, right)), d, left);
  for (size_t j = 0; i + j < n; ++j) y[i + j] = static_cast<float>(left[j]);
}

// Op::one(x), element by element; simple ones are vectorised by the compiler for this target.
template <class Op, class T, class Out = T>
void Each1(const void* const* in, void* out, size_t n, const double*) {
  const T* x = static_cast<const T*>(in[0]);
  Out* y = static_cast<Out*>(out);
  PLIMSOLL_EACH
  for (size_t i = 0; i < n; ++i) y[i] = static_cast<Out>(Op::one(x[i]));
}

template <class Op, class T, class Out = T>
void Each2(const void* const* in, void* out, size_t n, const double*) {
  const T* a = static_cast<const T*>(in[0]);
  const T* b = static_cast<const T*>(in[1]);
  Out* y = static_cast<Out*>(out);
  PLIMSOLL_EACH
  for (size_t i = 0; i < n; ++i) y[i] = static_cast<Out>(Op::one(a[i], b[i]));
}

}  // namespace plimsoll::HWY_NAMESPACE::simd
HWY_AFTER_NAMESPACE();

#endif  // PLIMSOLL_SIMD_LOOPS_INL_H
