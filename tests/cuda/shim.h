// What generated kernels need of CUDA, for a C++ compiler: see emulator.cpp.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <algorithm>
using std::max;
using std::min;

struct emulated_dim {
  unsigned x, y, z;
};
struct emulated_thread {
  emulated_dim threadIdx, blockIdx, blockDim, gridDim;
  void (*barrier)();
  int vote, votes;  // of __syncthreads_or
};
extern "C" emulated_thread emulated;
emulated_thread emulated;
#define threadIdx emulated.threadIdx
#define blockIdx emulated.blockIdx
#define gridDim emulated.gridDim

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(n)
#define __shared__ static
struct ulonglong2 {
  unsigned long long x, y;
};

template <class To, class From>
static To bits_as(From from) {
  To to;
  static_assert(sizeof to == sizeof from);
  memcpy(&to, &from, sizeof to);
  return to;
}
static inline float __int_as_float(int x) { return bits_as<float>(x); }
static inline float __uint_as_float(unsigned x) { return bits_as<float>(x); }
static inline int __float_as_int(float x) { return bits_as<int>(x); }
static inline unsigned __float_as_uint(float x) { return bits_as<unsigned>(x); }
static inline long long __double_as_longlong(double x) { return bits_as<long long>(x); }
static inline double __longlong_as_double(long long x) { return bits_as<double>(x); }
static inline uint64_t __umul64hi(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b >> 64);
}
static inline void sincospi(double x, double* s, double* c) { sincos(x * 3.14159265358979323846, s, c); }
static inline double erfinv(double y) {
  if (!(fabs(y) < 1)) return y == 1 ? INFINITY : y == -1 ? -INFINITY : NAN;
  double x = 0;
  for (int i = 0; i < 100; ++i) x -= (erf(x) - y) / (1.1283791670955126 * exp(-x * x));
  return x;
}
static inline float erfinvf(float y) { return static_cast<float>(erfinv(y)); }
static inline float widen_half(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000) << 16, exponent = h >> 10 & 31, mantissa = h & 1023;
  if (exponent == 31) return bits_as<float>(sign | 0x7F800000 | mantissa << 13);
  if (exponent != 0) return bits_as<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  return copysignf(static_cast<float>(mantissa) * 0x1p-24f, bits_as<float>(sign));
}
static inline uint16_t narrow_half(float x) {
  const uint32_t bits = bits_as<uint32_t>(x), magnitude = bits & 0x7FFFFFFF, sign = bits >> 16 & 0x8000;
  uint32_t half = (magnitude - 0x38000000 + 0xFFF + (magnitude >> 13 & 1)) >> 13;
  if (magnitude > 0x7F800000)
    half = 0x7E00;
  else if (magnitude >= 0x47800000)
    half = 0x7C00;
  else if (magnitude < 0x38800000)
    half = static_cast<uint32_t>(rintf(bits_as<float>(magnitude) * 0x1p24f));
  return static_cast<uint16_t>(sign | half);
}

static inline void __syncthreads() { emulated.barrier(); }
static inline int __syncthreads_or(int mine) {
  emulated.barrier();
  emulated.vote = 0;
  emulated.barrier();
  emulated.vote |= mine != 0;
  emulated.barrier();
  return emulated.vote;
}
static inline void atomicMin(unsigned long long* at, unsigned long long value) { *at = min(*at, value); }
