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
  void (*warp_barrier)();
  void (*yield)();
  char* shared;              // dynamic shared memory of the block
  unsigned long long* lane;  // of the block's threads, what they show to each other: four words each
  int vote;                  // of __syncthreads_or
};
extern "C" emulated_thread emulated;
emulated_thread emulated;
#define threadIdx emulated.threadIdx
#define blockIdx emulated.blockIdx
#define gridDim emulated.gridDim

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static
#define BY_VALUE(type) const type&
#define DYNAMIC_SHARED(name) char* const name = emulated.shared
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
static inline void __syncwarp() { emulated.warp_barrier(); }
static inline int __syncthreads_or(int mine) {
  emulated.barrier();
  emulated.vote = 0;
  emulated.barrier();
  emulated.vote |= mine != 0;
  emulated.barrier();
  return emulated.vote;
}
template <class T>
static T __shfl_xor_sync(unsigned, T mine, int mask) {
  memcpy(&emulated.lane[4 * threadIdx.x], &mine, sizeof mine);
  emulated.warp_barrier();
  T other;
  memcpy(&other, &emulated.lane[4 * (threadIdx.x ^ static_cast<unsigned>(mask))], sizeof other);
  emulated.warp_barrier();
  return other;
}
// The barrier of blocks that run together.
static inline void add_release(unsigned* at) { ++*at; }
static inline unsigned read_acquire(const unsigned* at) {
  emulated.yield();
  return *at;
}
static inline void read_16(const void* at, unsigned* to) { memcpy(to, at, 16); }
static inline void read_8(const void* at, unsigned* to) { memcpy(to, at, 8); }
static inline float read_f32(const float* at) { return *at; }
static inline unsigned as_tf32(float x) { return bits_as<unsigned>(x); }
// mma.m16n8k8 (words) and m16n8k16 (halves): every thread shows its fragments, and adds up its own results.
template <class Element>
static void emulated_mma(float* d, const unsigned* a, const unsigned* b, int per_word, Element element) {
  const unsigned me = threadIdx.x, first = me / 32 * 32;
  unsigned* const shown = reinterpret_cast<unsigned*>(emulated.lane);
  for (int i = 0; i < 4; ++i) shown[8 * me + i] = a[i];
  for (int i = 0; i < 2; ++i) shown[8 * me + 4 + i] = b[i];
  emulated.warp_barrier();
  for (int i = 0; i < 4; ++i) {
    const unsigned row = me % 32 / 4 + i / 2 * 8, column = me % 4 * 2 + i % 2;
    for (int k = 0; k < 8 * per_word; ++k) {
      const unsigned t = k / per_word % 4, high = k / (4 * per_word);
      const unsigned x = shown[8 * (first + row % 8 * 4 + t) + row / 8 + 2 * high],
                     y = shown[8 * (first + column * 4 + t) + 4 + high];
      d[i] += element(x, k % per_word) * element(y, k % per_word);
    }
  }
  emulated.warp_barrier();
}
static inline void mma_f32(float* d, const unsigned* a, const unsigned* b) {
  emulated_mma(d, a, b, 1, [](unsigned x, int) { return bits_as<float>(x); });
}
static inline void mma_bf16(float* d, const unsigned* a, const unsigned* b) {
  emulated_mma(d, a, b, 2, [](unsigned x, int i) { return bits_as<float>(x >> (16 * i) << 16); });
}
static inline void mma_f16(float* d, const unsigned* a, const unsigned* b) {
  emulated_mma(d, a, b, 2,
               [](unsigned x, int i) { return widen_half(static_cast<uint16_t>(x >> (16 * i))); });
}
static inline void atomicMin(unsigned long long* at, unsigned long long value) { *at = min(*at, value); }
