// Vector math for the target being compiled: f32 and f64, the whole range with NaN, infinities and signed
// zeros as the C library has them, to some ulp. Include after hwy/highway.h, inside no namespace.
#if defined(PLIMSOLL_SIMD_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIMSOLL_SIMD_MATH_INL_H
#undef PLIMSOLL_SIMD_MATH_INL_H
#else
#define PLIMSOLL_SIMD_MATH_INL_H
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace plimsoll::HWY_NAMESPACE::simd {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
using VecOf = hn::Vec<D>;
template <class D>
inline constexpr bool kIsF32 = sizeof(hn::TFromD<D>) == 4;

template <class D>
HWY_INLINE VecOf<D> K(D d, double c) {
  return hn::Set(d, static_cast<hn::TFromD<D>>(c));
}

// c[0] + c[1] x + ... by Horner's rule.
template <class D, size_t N>
HWY_INLINE VecOf<D> Poly(D d, VecOf<D> x, const double (&c)[N]) {
  VecOf<D> y = K(d, c[N - 1]);
  for (size_t i = N - 1; i > 0; --i) y = hn::MulAdd(y, x, K(d, c[i - 1]));
  return y;
}

// Adding this puts round(x) into the low bits of the mantissa.
template <class D>
constexpr double Magic() {
  return kIsF32<D> ? 12582912.0 : 6755399441055744.0;
}
template <class D>
constexpr int kMantissa = kIsF32<D> ? 23 : 52;

// 2^k for k = t - magic, |k| within the exponents of normal numbers.
template <class D>
HWY_INLINE VecOf<D> Pow2OfMagic(D d, VecOf<D> t) {
  const hn::RebindToUnsigned<D> du;
  return hn::BitCast(d, hn::Add(hn::ShiftLeft<kMantissa<D>>(hn::BitCast(du, t)), hn::BitCast(du, K(d, 1.0))));
}

// x = k ln 2 + r: returns (e^r - 1), and 2^k as two factors that do not overflow by themselves.
template <class D>
HWY_INLINE VecOf<D> ExpParts(D d, VecOf<D> x, VecOf<D>& high, VecOf<D>& low) {
  const auto magic = K(d, Magic<D>());
  const auto k = hn::Sub(hn::MulAdd(x, K(d, 1.4426950408889634), magic), magic);
  VecOf<D> r;
  VecOf<D> p;
  if constexpr (kIsF32<D>) {
    r = hn::NegMulAdd(k, K(d, 0.693359375), x);
    r = hn::NegMulAdd(k, K(d, -2.12194440e-4), r);
    p = Poly(d, r, {1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040});
  } else {
    r = hn::NegMulAdd(k, K(d, 0x1.62e42fee00000p-1), x);
    r = hn::NegMulAdd(k, K(d, 0x1.a39ef35793c76p-33), r);
    p = Poly(d, r,
             {1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880,
              1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800});
  }
  const auto half = hn::MulAdd(k, K(d, 0.5), magic);
  const auto rest = hn::Add(hn::Sub(k, hn::Sub(half, magic)), magic);
  high = Pow2OfMagic(d, half);
  low = Pow2OfMagic(d, rest);
  return hn::Mul(p, r);
}

template <class D>
HWY_INLINE VecOf<D> ClampExp(D d, VecOf<D> x) {
  return hn::Min(hn::Max(x, K(d, kIsF32<D> ? -104.0 : -746.0)), K(d, kIsF32<D> ? 89.0 : 710.0));
}
template <class D>
HWY_INLINE VecOf<D> KeepNaN(VecOf<D> x, VecOf<D> y) {
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

template <class D>
HWY_INLINE VecOf<D> Exp(D d, VecOf<D> x) {
  VecOf<D> high, low;
  const auto p = ExpParts(d, ClampExp(d, x), high, low);
  return KeepNaN<D>(x, hn::Mul(hn::Mul(hn::Add(p, K(d, 1.0)), high), low));
}

template <class D>
HWY_INLINE VecOf<D> Expm1(D d, VecOf<D> x) {
  VecOf<D> high, low;
  const auto p = ExpParts(d, ClampExp(d, x), high, low);
  // 2^k p + (2^k - 1), with the last factor of 2^k put on at the end where it would overflow.
  const auto scale = hn::Mul(high, low);
  const auto y = hn::MulAdd(p, scale, hn::Sub(scale, K(d, 1.0)));
  const auto large = hn::Mul(hn::Mul(hn::Add(p, K(d, 1.0)), high), low);
  const auto big = hn::Gt(x, K(d, kIsF32<D> ? 60.0 : 600.0));
  // Tiny x, -0 included, is its own result.
  const auto tiny = hn::Lt(hn::Abs(x), K(d, kIsF32<D> ? 1e-10 : 1e-20));
  return KeepNaN<D>(x, hn::IfThenElse(tiny, x, hn::IfThenElse(big, large, y)));
}

template <class D>
HWY_INLINE VecOf<D> Log(D d, VecOf<D> x) {
  const hn::RebindToSigned<D> di;
  using T = hn::TFromD<D>;
  constexpr int kBits = kMantissa<D>;
  const auto tiny = hn::Lt(x, hn::Set(d, std::numeric_limits<T>::min()));
  const auto lift = K(d, kIsF32<D> ? 33554432.0 : 18014398509481984.0);  // 2^25, 2^54
  const auto y = hn::IfThenElse(tiny, hn::Mul(x, lift), x);
  const auto bits = hn::BitCast(di, y);
  const auto e = hn::ShiftRight<kBits>(hn::Sub(bits, hn::BitCast(di, K(d, 0.70710678118654752))));
  const auto m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<kBits>(e)));
  const auto k = hn::Sub(hn::ConvertTo(d, e), hn::IfThenElseZero(tiny, K(d, kIsF32<D> ? 25.0 : 54.0)));
  const auto z = hn::Div(hn::Sub(m, K(d, 1.0)), hn::Add(m, K(d, 1.0)));
  const auto s = hn::Mul(z, z);
  VecOf<D> p, ln2_high, ln2_low;
  if constexpr (kIsF32<D>) {
    p = Poly(d, s, {2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11});
    ln2_high = K(d, 0.693359375);
    ln2_low = K(d, -2.12194440e-4);
  } else {
    p = Poly(d, s,
             {2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21,
              2.0 / 23});
    ln2_high = K(d, 0x1.62e42fee00000p-1);
    ln2_low = K(d, 0x1.a39ef35793c76p-33);
  }
  const auto small = hn::MulAdd(hn::Mul(z, s), p, hn::Mul(k, ln2_low));
  auto result = hn::MulAdd(k, ln2_high, hn::Add(hn::Add(z, z), small));
  const auto inf = hn::Set(d, std::numeric_limits<T>::infinity());
  result = hn::IfThenElse(hn::Eq(x, inf), inf, result);
  result = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(inf), result);
  result = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::NaN(d), result);
  return KeepNaN<D>(x, result);
}

template <class D>
HWY_INLINE VecOf<D> Log1p(D d, VecOf<D> x) {
  const auto one = K(d, 1.0);
  const auto u = hn::Add(one, x);
  const auto lost = hn::Sub(u, one);  // what of x is left in u
  const auto log = simd::Log(d, u);
  const auto corrected = hn::Mul(log, hn::Div(x, lost));
  const auto inf = hn::Set(d, std::numeric_limits<hn::TFromD<D>>::infinity());
  const auto special = hn::Or(hn::Eq(x, inf), hn::Le(x, K(d, -1.0)));
  return hn::IfThenElse(hn::Eq(lost, hn::Zero(d)), x, hn::IfThenElse(special, log, corrected));
}

template <class D>
HWY_INLINE VecOf<D> Tanh(D d, VecOf<D> x) {
  const auto a = hn::Min(hn::Abs(x), K(d, 20.0));
  const auto e = simd::Expm1(d, hn::Add(a, a));
  const auto y = hn::Div(e, hn::Add(e, K(d, 2.0)));
  return KeepNaN<D>(x, hn::CopySign(y, x));
}

template <class D>
HWY_INLINE VecOf<D> Sigmoid(D d, VecOf<D> x) {
  const auto one = K(d, 1.0);
  return hn::Div(one, hn::Add(one, simd::Exp(d, hn::Neg(x))));
}

// Beyond this the reduction of sin and cos loses bits: callers take the C library there.
inline constexpr double kTrigLimit = 1e5;

// Sine (quarter = 0) or cosine (quarter = 1), f64, |x| <= kTrigLimit.
template <class D>
HWY_INLINE VecOf<D> SinCos(D d, VecOf<D> x, int quarter) {
  const hn::RebindToUnsigned<D> du;
  const auto magic = K(d, Magic<D>());
  const auto t = hn::MulAdd(x, K(d, 0.63661977236758134), magic);
  const auto k = hn::Sub(t, magic);
  auto r = hn::NegMulAdd(k, K(d, 1.57079632673412561417e+00), x);  // pi / 2 in three parts of 33 bits
  r = hn::NegMulAdd(k, K(d, 6.07710050630396597660e-11), r);
  r = hn::NegMulAdd(k, K(d, 2.02226624879595063154e-21), r);
  const auto s = hn::Mul(r, r);
  const auto sine = hn::MulAdd(hn::Mul(r, s),
                               Poly(d, s,
                                    {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800,
                                     1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000}),
                               r);
  const auto cosine = Poly(d, s,
                           {1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600,
                            -1.0 / 87178291200, 1.0 / 20922789888000});
  const auto q = hn::Add(hn::BitCast(du, t), hn::Set(du, static_cast<uint64_t>(quarter)));
  const auto odd = hn::MaskFromVec(hn::BitCast(d, hn::VecFromMask(du, hn::TestBit(q, hn::Set(du, 1)))));
  const auto sign = hn::BitCast(d, hn::ShiftLeft<62>(hn::And(q, hn::Set(du, 2))));
  const auto y = hn::Xor(hn::IfThenElse(odd, cosine, sine), sign);
  return quarter == 0 ? hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, y) : y;
}

}  // namespace plimsoll::HWY_NAMESPACE::simd
HWY_AFTER_NAMESPACE();

#endif  // PLIMSOLL_SIMD_MATH_INL_H
