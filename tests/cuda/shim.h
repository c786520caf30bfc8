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
static inline float widen_half(uint16_t h) { return static_cast<float>(bits_as<_Float16>(h)); }
static inline uint16_t narrow_half(float x) { return bits_as<uint16_t>(static_cast<_Float16>(x)); }

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
