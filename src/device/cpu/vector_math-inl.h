// exp, tanh and sigmoid on vectors, and whole and partial loads and stores, for the kernels of softmax,
// attention and the recurrent layers. f32 has its own short polynomials (at most 2 ulp of error, 4 for tanh
// and sigmoid); f64 takes Highway's. Halves are loaded as f32 and stored rounded to nearest even. Included
// once per Highway target, hence the unusual guard.
#if defined(PLIMSOLL_DEVICE_CPU_VECTOR_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIMSOLL_DEVICE_CPU_VECTOR_MATH_INL_H_
#undef PLIMSOLL_DEVICE_CPU_VECTOR_MATH_INL_H_
#else
#define PLIMSOLL_DEVICE_CPU_VECTOR_MATH_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "device/cpu/typed.h"
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

// Highway's masked loads of f32 and f64 are safe at the end of a buffer from AVX2 on, though not of smaller
// types.
#undef PLIMSOLL_PARTIAL_BY_HAND
#define PLIMSOLL_PARTIAL_BY_HAND (HWY_MEM_OPS_MIGHT_FAULT && HWY_TARGET != HWY_AVX2)

// Highway's emulation of float16 before F16C does not round.
#undef PLIMSOLL_F16_BY_HAND
#define PLIMSOLL_F16_BY_HAND \
  ((HWY_ARCH_X86 && HWY_TARGET > HWY_AVX2) || HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128)

HWY_BEFORE_NAMESPACE();
namespace plimsoll {
namespace HWY_NAMESPACE {
namespace vm {

namespace hn = hwy::HWY_NAMESPACE;

// A vector from p, or to it.
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const hn::TFromD<D>* p) {
  return hn::LoadU(d, p);
}
template <class D>
HWY_INLINE void store(hn::Vec<D> v, D d, hn::TFromD<D>* p) {
  hn::StoreU(v, d, p);
}
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const BrainBits* p) {
  const hn::Rebind<uint16_t, D> d16;
  const hn::RebindToUnsigned<D> d32;
  const auto bits = hn::PromoteTo(d32, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(p)));
  return hn::BitCast(d, hn::ShiftLeft<16>(bits));
}
template <class D>
HWY_INLINE void store(hn::Vec<D> v, D d, BrainBits* p) {
  const hn::Rebind<uint16_t, D> d16;
  const hn::RebindToUnsigned<D> d32;
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(d32, v), high = hn::ShiftRight<16>(bits);
  const auto odd = hn::And(high, hn::Set(d32, 1u));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(d32, 0x7FFFu))));
  const auto nan = hn::BitCast(d32, hn::VecFromMask(d, hn::IsNaN(v)));
  const auto chosen = hn::IfVecThenElse(nan, hn::Or(high, hn::Set(d32, 0x40u)), rounded);
  hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, chosen)), d16, reinterpret_cast<uint16_t*>(p));
}
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const HalfBits* p) {
#if PLIMSOLL_F16_BY_HAND
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = f16_to_float(p[i].bits);
  return hn::Load(d, lanes);
#else
  const hn::Rebind<hwy::float16_t, D> d16;
  return hn::PromoteTo(d, hn::LoadU(d16, reinterpret_cast<const hwy::float16_t*>(p)));
#endif
}
template <class D>
HWY_INLINE void store(hn::Vec<D> v, D d, HalfBits* p) {
#if PLIMSOLL_F16_BY_HAND
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(v, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); ++i) p[i].bits = float_to_f16(lanes[i]);
#else
  const hn::Rebind<hwy::float16_t, D> d16;
  hn::StoreU(hn::DemoteTo(d16, v), d16, reinterpret_cast<hwy::float16_t*>(p));
#endif
}

// The first n lanes from p, `fill` in the others. Never touches memory past p + n.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_first(D d, const T* HWY_RESTRICT p, size_t n, T fill) {
  const auto m = hn::FirstN(d, n);
#if PLIMSOLL_PARTIAL_BY_HAND
  HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(T)] = {};
  for (size_t i = 0; i < n; ++i) lanes[i] = p[i];
  return hn::IfThenElse(m, hn::Load(d, lanes), hn::Set(d, fill));
#else
  return hn::IfThenElse(m, hn::MaskedLoad(m, d, p), hn::Set(d, fill));
#endif
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_first(hn::Vec<D> v, D d, T* HWY_RESTRICT p, size_t n) {
#if PLIMSOLL_PARTIAL_BY_HAND
  HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(v, d, lanes);
  for (size_t i = 0; i < n; ++i) p[i] = lanes[i];
#else
  hn::BlendedStore(v, hn::FirstN(d, n), d, p);
#endif
}

// The same of halves, through a padded copy.
template <class D, class S>
requires(sizeof(S) == 2) HWY_INLINE hn::Vec<D> load_first(D d, const S* HWY_RESTRICT p, size_t n,
                                                          float fill) {
  HWY_ALIGN S lanes[HWY_MAX_BYTES / sizeof(float)] = {};
  for (size_t i = 0; i < n; ++i) lanes[i] = p[i];
  return hn::IfThenElse(hn::FirstN(d, n), vm::load(d, lanes), hn::Set(d, fill));
}
template <class D, class S>
requires(sizeof(S) == 2) HWY_INLINE void store_first(hn::Vec<D> v, D d, S* HWY_RESTRICT p, size_t n) {
  HWY_ALIGN S lanes[HWY_MAX_BYTES / sizeof(float)];
  vm::store(v, d, lanes);
  for (size_t i = 0; i < n; ++i) p[i] = lanes[i];
}

// Calls body(i, load, store) for every vector of [0, n): load(p, fill) reads p[i...], store(v, p) writes it;
// p points to what the vector has, or to halves. The last vector may be partial, so bodies need not know
// about tails.
template <class D, class Body>
HWY_INLINE void for_vectors(D d, size_t n, const Body& body) {
  using T = hn::TFromD<D>;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    body(
        i, [&](const auto* p, T) HWY_ATTR { return vm::load(d, p + i); },
        [&](hn::Vec<D> v, auto* p) HWY_ATTR { vm::store(v, d, p + i); });
  }
  if (i < n) {
    const size_t rest = n - i;
    body(
        i, [&](const auto* p, T fill) HWY_ATTR { return load_first(d, p + i, rest, fill); },
        [&](hn::Vec<D> v, auto* p) HWY_ATTR { store_first(v, d, p + i, rest); });
  }
}

// x = n ln 2 + r with |r| <= ln 2 / 2; returns exp(r) - 1 and 2^n. NaN goes into the first.
template <class D>
HWY_INLINE hn::Vec<D> reduced_expm1(D d, hn::Vec<D> x, hn::Vec<D>& power) {
  const hn::RebindToSigned<D> di;
  const auto n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504088896f)));
  auto r = hn::NegMulAdd(n, hn::Set(d, 0.693145751953125f), x);
  r = hn::NegMulAdd(n, hn::Set(d, 1.42860682030941723e-6f), r);
  // Chebyshev fit of (expm1(r) - r) / r^2; relative error of the whole 2.5e-8.
  auto q = hn::Set(d, 0.0013933733571320772f);
  q = hn::MulAdd(q, r, hn::Set(d, 0.008363235741853714f));
  q = hn::MulAdd(q, r, hn::Set(d, 0.041666463017463684f));
  q = hn::MulAdd(q, r, hn::Set(d, 0.16666576266288757f));
  q = hn::MulAdd(q, r, hn::Set(d, 0.5f));
  const auto exponent = hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127));
  power = hn::BitCast(d, hn::ShiftLeft<23>(exponent));
  return hn::MulAdd(hn::Mul(r, r), q, r);
}

inline constexpr float kLeastExp = -87.3f;  // below it exp is a denormal: we give zero
inline constexpr float kMostExp = 88.37f;   // above it 2^n has no exponent left: we give infinity

// exp. Clamping by compare and select lets NaN through on every target, which Min and Max do not.
template <class D>
requires(sizeof(hn::TFromD<D>) == 4) HWY_INLINE hn::Vec<D> exp(D d, hn::Vec<D> x) {
  const auto low = hn::Set(d, kLeastExp), high = hn::Set(d, kMostExp);
  const auto tiny = hn::Lt(x, low), huge = hn::Gt(x, high);
  hn::Vec<D> power;
  const auto e = reduced_expm1(d, hn::IfThenElse(huge, high, hn::IfThenElse(tiny, low, x)), power);
  return hn::IfThenElse(huge, hn::Inf(d), hn::IfThenZeroElse(tiny, hn::MulAdd(e, power, power)));
}
template <class D>
requires(sizeof(hn::TFromD<D>) == 8) HWY_INLINE hn::Vec<D> exp(D d, hn::Vec<D> x) {
  // Highway's wraps around outside this range.
  const auto tiny = hn::Lt(x, hn::Set(d, -708.0)), huge = hn::Gt(x, hn::Set(d, 709.78));
  const auto y = hn::Exp(d, hn::IfThenZeroElse(hn::Or(tiny, huge), x));
  return hn::IfThenElse(hn::IsNaN(x), x, hn::IfThenElse(huge, hn::Inf(d), hn::IfThenZeroElse(tiny, y)));
}

// exp for x <= 0 (or NaN): what softmax needs.
template <class D>
requires(sizeof(hn::TFromD<D>) == 4) HWY_INLINE hn::Vec<D> exp_negative(D d, hn::Vec<D> x) {
  const auto low = hn::Set(d, kLeastExp);
  const auto tiny = hn::Lt(x, low);
  hn::Vec<D> power;
  const auto e = reduced_expm1(d, hn::IfThenElse(tiny, low, x), power);
  return hn::IfThenZeroElse(tiny, hn::MulAdd(e, power, power));
}
template <class D>
requires(sizeof(hn::TFromD<D>) == 8) HWY_INLINE hn::Vec<D> exp_negative(D d, hn::Vec<D> x) {
  return vm::exp(d, x);
}

template <class D>
HWY_INLINE hn::Vec<D> sigmoid(D d, hn::Vec<D> x) {
  const auto one = hn::Set(d, static_cast<hn::TFromD<D>>(1));
  return hn::Div(one, hn::Add(one, vm::exp(d, hn::Neg(x))));
}

// tanh(|x|) = -e / (2 + e) with e = expm1(-2 |x|): no cancellation near zero, one division.
template <class D>
requires(sizeof(hn::TFromD<D>) == 4) HWY_INLINE hn::Vec<D> tanh(D d, hn::Vec<D> x) {
  hn::Vec<D> power;
  const auto twice = hn::Mul(hn::Abs(x), hn::Set(d, -2.0f)), low = hn::Set(d, -30.0f);
  const auto q = reduced_expm1(d, hn::IfThenElse(hn::Lt(twice, low), low, twice), power);
  const auto e = hn::MulAdd(q, power, hn::Sub(power, hn::Set(d, 1.0f)));
  const auto y = hn::Div(hn::Neg(e), hn::Add(e, hn::Set(d, 2.0f)));
  return hn::CopySignToAbs(y, x);
}
template <class D>
requires(sizeof(hn::TFromD<D>) == 8) HWY_INLINE hn::Vec<D> tanh(D d, hn::Vec<D> x) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Tanh(d, x));
}

}  // namespace vm
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll
HWY_AFTER_NAMESPACE();

#endif
