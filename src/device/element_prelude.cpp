// The functions of the language of docs/element_language.md, written in the C that C compilers, NVRTC and
// nvcc share. Each target says first how it declares a function, where its types come from, and how it reads
// bits.
#include "device/element_text.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

constexpr std::string_view kC = R"(
#include <math.h>
#include <stdint.h>
#include <string.h>
#define PLIMSOLL_FN static inline

PLIMSOLL_FN float float_of_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
PLIMSOLL_FN uint32_t bits_of_float(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

PLIMSOLL_FN float widen_f16(uint16_t h) {
  const uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, mantissa = h & 1023;
  if (exponent == 31) return float_of_bits(sign | 0x7F800000 | mantissa << 13);
  if (exponent != 0) return float_of_bits(sign | (exponent + 112) << 23 | mantissa << 13);
  return sign ? -(float)mantissa * 0x1p-24f : (float)mantissa * 0x1p-24f;
}
PLIMSOLL_FN uint16_t narrow_f16(float x) {
  const uint32_t bits = bits_of_float(x), magnitude = bits & 0x7FFFFFFF, sign = bits >> 16 & 0x8000;
  if (magnitude > 0x7F800000) return (uint16_t)(sign | 0x7E00);
  if (magnitude >= 0x47800000) return (uint16_t)(sign | 0x7C00);
  if (magnitude < 0x38800000) return (uint16_t)(sign | (uint32_t)rintf(float_of_bits(magnitude) * 0x1p24f));
  return (uint16_t)(sign | (magnitude - 0x38000000 + 0xFFF + (magnitude >> 13 & 1)) >> 13);
}

// Newton's method for erf(x) = y, with erfc near the ends, where 1 - y is exact.
PLIMSOLL_FN double erfinv(double y) {
  if (!(fabs(y) < 1)) return y == 1 ? INFINITY : y == -1 ? -INFINITY : NAN;
  const double l = log((1 - y) * (1 + y)), t = 4.3307467508 + 0.5 * l;
  double x = copysign(sqrt(sqrt(t * t - l / 0.147) - t), y);
  if (fabs(y) < 1e-4) return y * 0.88622692545275801 * (1 + y * y * 0.26179938779914944);
  for (int i = 0; i < 4; ++i) {
    const double tail = 1 - fabs(y) - erfc(fabs(x));
    const double error = fabs(y) < 0.5 ? erf(x) - y : copysign(1, y) * tail;
    x -= error / (1.1283791670955126 * exp(-x * x));
  }
  return x;
}
PLIMSOLL_FN float erfinvf(float y) { return (float)erfinv(y); }
)";

constexpr std::string_view kCuda = R"(
#ifdef __CUDACC_RTC__
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#else
#include <stdint.h>
#endif
#ifndef INFINITY
#define INFINITY __int_as_float(0x7F800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7FFFFFFF)
#endif
#define PLIMSOLL_FN static __device__ __forceinline__

PLIMSOLL_FN float float_of_bits(uint32_t bits) { return __uint_as_float(bits); }
PLIMSOLL_FN uint32_t bits_of_float(float x) { return __float_as_uint(x); }

PLIMSOLL_FN float widen_f16(uint16_t h) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h));
  return x;
}
PLIMSOLL_FN uint16_t narrow_f16(float x) {
  uint16_t h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
  return h;
}
)";

constexpr std::string_view kHalves = R"(
PLIMSOLL_FN float widen_bf16(uint16_t h) { return float_of_bits((uint32_t)h << 16); }
PLIMSOLL_FN uint16_t narrow_bf16(float x) {
  const uint32_t bits = bits_of_float(x);
  return (uint16_t)(x != x ? bits >> 16 | 0x40 : (bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
PLIMSOLL_FN float round_f16(float x) { return widen_f16(narrow_f16(x)); }
PLIMSOLL_FN float round_bf16(float x) { return widen_bf16(narrow_bf16(x)); }
)";

// Computed in f64 whatever the type: series have no good f32 form.
constexpr std::string_view kSeries = R"(
// Powers of x while they are few, Hankel's series beyond. x >= 0, times e^-x.
PLIMSOLL_FN double bessel_ie(int order, double x) {
  double term = 1, sum = 1;
  if (x < 30) {
    term = sum = order == 0 ? 1 : x / 2;
    for (int k = 1; term > 1e-17 * sum; ++k) sum += term *= x * x / 4 / (k * (double)(k + order));
    return sum * exp(-x);
  }
  for (int k = 1; k <= 20; ++k) sum += term *= ((2 * k - 1) * (2 * k - 1) - 4 * order * order) / (8 * k * x);
  return sum / sqrt(6.283185307179586 * x);
}
PLIMSOLL_FN double i0e(double x) { return x - x == 0 ? bessel_ie(0, fabs(x)) : x != x ? x : 0; }
PLIMSOLL_FN double i1e(double x) { return x - x == 0 ? copysign(bessel_ie(1, fabs(x)), x) : x != x ? x : copysign(0.0, x); }

// x^a e^-x / Gamma(a + 1); for large a by Stirling's formula, which takes the large part out of both.
PLIMSOLL_FN double gamma_factor(double a, double x) {
  if (a < 20) return exp(a * log(x) - x - lgamma(a + 1));
  const double d = (x - a) / a, b = a * a;
  const double rest = (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - 1.0 / (1188 * b)) / b) / b) / b) / a;
  return exp(a * (fabs(d) < 0.5 ? log1p(d) - d : log(x / a) - d) - rest) / sqrt(6.283185307179586 * a);
}
PLIMSOLL_FN double gamma_lower(double a, double x) {
  double term = 1, sum = 1;
  for (int k = 1; term > 1e-17 * sum && k < 100000; ++k) sum += term *= x / (a + k);
  return sum * gamma_factor(a, x);
}
// Legendre's continued fraction, by Lentz's method.
PLIMSOLL_FN double gamma_upper(double a, double x) {
  double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
  for (int k = 1; k < 100000; ++k) {
    const double n = k * (a - k);
    b += 2;
    d = n * d + b;
    d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
    c = b + n / c;
    c = fabs(c) < 1e-300 ? 1e-300 : c;
    h *= c * d;
    if (fabs(c * d - 1) < 1e-16) break;
  }
  return h * gamma_factor(a, x) * a;
}
PLIMSOLL_FN int no_gamma(double a, double x) { return !(a > 0 && a - a == 0 && x >= 0); }
PLIMSOLL_FN double igamma(double a, double x) {
  if (no_gamma(a, x)) return NAN;
  if (x == 0 || x - x != 0) return x != 0;
  return x < a + 1 ? gamma_lower(a, x) : 1 - gamma_upper(a, x);
}
PLIMSOLL_FN double igammac(double a, double x) {
  if (no_gamma(a, x)) return NAN;
  if (x == 0 || x - x != 0) return x == 0;
  return x < a + 1 ? 1 - gamma_lower(a, x) : gamma_upper(a, x);
}
PLIMSOLL_FN double gamma_density(double a, double x) {
  if (no_gamma(a, x)) return NAN;
  if (x == 0) return a < 1 ? INFINITY : a == 1;
  return x - x == 0 ? gamma_factor(a, x) * a / x : 0;
}
)";

constexpr std::string_view kFunctions = R"(
#define PLIMSOLL_INTEGERS(T, U, s, LEAST)                                                               \
  PLIMSOLL_FN T add_##s(T a, T b) { return (T)((U)a + (U)b); }                                          \
  PLIMSOLL_FN T sub_##s(T a, T b) { return (T)((U)a - (U)b); }                                          \
  PLIMSOLL_FN T mul_##s(T a, T b) { return (T)((uint64_t)a * (uint64_t)b); }                            \
  PLIMSOLL_FN T div_##s(T a, T b) {                                                                     \
    if (b == 0) return 0;                                                                               \
    if (LEAST < 0 && b == (T)-1) return sub_##s(0, a);                                                  \
    return (T)(a / b - (a % b != 0 && (a < 0) != (b < 0)));                                             \
  }                                                                                                     \
  PLIMSOLL_FN T mod_##s(T a, T b) {                                                                     \
    if (b == 0 || (LEAST < 0 && b == (T)-1)) return 0;                                                  \
    const T r = (T)(a % b);                                                                             \
    return r != 0 && (r < 0) != (b < 0) ? (T)(r + b) : r;                                               \
  }                                                                                                     \
  PLIMSOLL_FN T pow_##s(T a, T b) {                                                                     \
    if (b < 0) return (T)(a == 1 ? 1 : a != (T)-1 ? 0 : b & 1 ? -1 : 1);                                \
    T r = 1;                                                                                            \
    for (U e = (U)b; e; e = (U)(e >> 1), a = mul_##s(a, a))                                             \
      if (e & 1) r = mul_##s(r, a);                                                                     \
    return r;                                                                                           \
  }                                                                                                     \
  PLIMSOLL_FN T shl_##s(T a, T b) { return (U)b >= 8 * sizeof(T) ? 0 : (T)((uint64_t)a << (U)b); }      \
  PLIMSOLL_FN T shr_##s(T a, T b) { return (T)((U)b < 8 * sizeof(T) ? a >> b : a < 0 ? -1 : 0); }

PLIMSOLL_INTEGERS(int8_t, uint8_t, i8, -1)
PLIMSOLL_INTEGERS(int16_t, uint16_t, i16, -1)
PLIMSOLL_INTEGERS(int32_t, uint32_t, i32, -1)
PLIMSOLL_INTEGERS(int64_t, uint64_t, i64, -1)
PLIMSOLL_INTEGERS(uint8_t, uint8_t, u8, 0)
PLIMSOLL_INTEGERS(uint16_t, uint16_t, u16, 0)
PLIMSOLL_INTEGERS(uint32_t, uint32_t, u32, 0)
PLIMSOLL_INTEGERS(uint64_t, uint64_t, u64, 0)

// END is exact in every type of floats, the largest integer below it may not be.
#define PLIMSOLL_SATURATE(F, f, T, s, LEAST, MOST, END)                                \
  PLIMSOLL_FN T to_##s##_##f(F x) {                                                    \
    return x != x ? 0 : x <= (F)(LEAST) ? (T)(LEAST) : x >= (F)(END) ? (T)(MOST) : (T)x; \
  }

#define PLIMSOLL_FLOATS(T, s, f)                                                                      \
  PLIMSOLL_FN int isnan_##s(T x) { return x != x; }                                                   \
  PLIMSOLL_FN T abs_##s(T x) { return fabs##f(x); }                                                   \
  PLIMSOLL_FN T floor_##s(T x) { return floor##f(x); }                                                \
  PLIMSOLL_FN T ceil_##s(T x) { return ceil##f(x); }                                                  \
  PLIMSOLL_FN T rint_##s(T x) { return rint##f(x); }                                                  \
  PLIMSOLL_FN T sqrt_##s(T x) { return sqrt##f(x); }                                                  \
  PLIMSOLL_FN T fmod_##s(T x, T y) { return fmod##f(x, y); }                                          \
  PLIMSOLL_FN T copysign_##s(T x, T y) { return copysign##f(x, y); }                                  \
  PLIMSOLL_FN T exp_##s(T x) { return exp##f(x); }                                                    \
  PLIMSOLL_FN T expm1_##s(T x) { return expm1##f(x); }                                                \
  PLIMSOLL_FN T log_##s(T x) { return log##f(x); }                                                    \
  PLIMSOLL_FN T log1p_##s(T x) { return log1p##f(x); }                                                \
  PLIMSOLL_FN T cbrt_##s(T x) { return cbrt##f(x); }                                                  \
  PLIMSOLL_FN T sin_##s(T x) { return sin##f(x); }                                                    \
  PLIMSOLL_FN T cos_##s(T x) { return cos##f(x); }                                                    \
  PLIMSOLL_FN T tan_##s(T x) { return tan##f(x); }                                                    \
  PLIMSOLL_FN T asin_##s(T x) { return asin##f(x); }                                                  \
  PLIMSOLL_FN T acos_##s(T x) { return acos##f(x); }                                                  \
  PLIMSOLL_FN T atan_##s(T x) { return atan##f(x); }                                                  \
  PLIMSOLL_FN T atan2_##s(T y, T x) { return atan2##f(y, x); }                                        \
  PLIMSOLL_FN T sinh_##s(T x) { return sinh##f(x); }                                                  \
  PLIMSOLL_FN T cosh_##s(T x) { return cosh##f(x); }                                                  \
  PLIMSOLL_FN T tanh_##s(T x) { return tanh##f(x); }                                                  \
  PLIMSOLL_FN T asinh_##s(T x) { return asinh##f(x); }                                                \
  PLIMSOLL_FN T acosh_##s(T x) { return acosh##f(x); }                                                \
  PLIMSOLL_FN T atanh_##s(T x) { return atanh##f(x); }                                                \
  PLIMSOLL_FN T erf_##s(T x) { return erf##f(x); }                                                    \
  PLIMSOLL_FN T erfc_##s(T x) { return erfc##f(x); }                                                  \
  PLIMSOLL_FN T erfinv_##s(T x) { return erfinv##f(x); }                                              \
  PLIMSOLL_FN T i0e_##s(T x) { return (T)i0e(x); }                                                    \
  PLIMSOLL_FN T i1e_##s(T x) { return (T)i1e(x); }                                                    \
  PLIMSOLL_FN T igamma_##s(T a, T x) { return (T)igamma(a, x); }                                      \
  PLIMSOLL_FN T igammac_##s(T a, T x) { return (T)igammac(a, x); }                                    \
  PLIMSOLL_FN T gamma_density_##s(T a, T x) { return (T)gamma_density(a, x); }                        \
  PLIMSOLL_FN T pow_##s(T x, T y) { return pow##f(x, y); }                                            \
  PLIMSOLL_SATURATE(T, s, int8_t, i8, -128, 127, 128.0)                                               \
  PLIMSOLL_SATURATE(T, s, int16_t, i16, -32768, 32767, 32768.0)                                       \
  PLIMSOLL_SATURATE(T, s, int32_t, i32, -2147483648LL, 2147483647, 2147483648.0)                      \
  PLIMSOLL_SATURATE(T, s, int64_t, i64, -9223372036854775807LL - 1, 9223372036854775807LL,            \
                    9223372036854775808.0)                                                            \
  PLIMSOLL_SATURATE(T, s, uint8_t, u8, 0, 255, 256.0)                                                 \
  PLIMSOLL_SATURATE(T, s, uint16_t, u16, 0, 65535, 65536.0)                                           \
  PLIMSOLL_SATURATE(T, s, uint32_t, u32, 0, 4294967295u, 4294967296.0)                                \
  PLIMSOLL_SATURATE(T, s, uint64_t, u64, 0, 18446744073709551615ull, 18446744073709551616.0)

PLIMSOLL_FLOATS(float, f32, f)
PLIMSOLL_FLOATS(double, f64, )
)";

}  // namespace

std::string element_prelude(SourceTarget target) {
  return concat(target == SourceTarget::cuda ? kCuda : kC, kHalves, kSeries, kFunctions);
}

}  // namespace plimsoll
