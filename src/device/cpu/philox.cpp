#include "device/cpu/highway.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/philox.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "device/cpu/philox.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Words [4 block, 4 block + kPhiloxWords) of the key. A 64-bit lane holds a block's word in its low half;
// what is in the high half is of no account, because only low halves are multiplied and, in the end, stored.
#if HWY_TARGET != HWY_SCALAR
template <class D, class V>
HWY_INLINE void Put(D d, V a, V b, V c, V e, uint32_t* out) {
  const auto low = hn::Set(d, 0xFFFFFFFFu);
  const auto first = hn::Or(hn::And(a, low), hn::ShiftLeft<32>(b));
  const auto second = hn::Or(hn::And(c, low), hn::ShiftLeft<32>(e));
  hn::StoreInterleaved2(first, second, d, reinterpret_cast<uint64_t*>(out));
}

void PhiloxWords(const uint32_t* key, uint64_t block, uint32_t* out) {
  const hn::CappedTag<uint64_t, kPhiloxBlocks / 2> d;
  const hn::Repartition<uint32_t, decltype(d)> d32;
  const auto m0 = hn::BitCast(d32, hn::Set(d, 0xD2511F53u)), m1 = hn::BitCast(d32, hn::Set(d, 0xCD9E8D57u));
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  // Two vectors of blocks at once: ten rounds are one long chain.
  for (int64_t i = 0; i < kPhiloxBlocks; i += 2 * lanes) {
    auto a = hn::Iota(d, block + static_cast<uint64_t>(i));
    auto x = hn::Iota(d, block + static_cast<uint64_t>(i + lanes));
    auto b = hn::ShiftRight<32>(a), y = hn::ShiftRight<32>(x);
    auto c = hn::Zero(d), e = c, z = c, w = c;
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; ++round) {
      const auto first = hn::Set(d, k0), second = hn::Set(d, k1);
      const auto p = hn::MulEven(hn::BitCast(d32, a), m0), q = hn::MulEven(hn::BitCast(d32, c), m1);
      const auto r = hn::MulEven(hn::BitCast(d32, x), m0), s = hn::MulEven(hn::BitCast(d32, z), m1);
      a = hn::Xor(hn::Xor(hn::ShiftRight<32>(q), b), first);
      c = hn::Xor(hn::Xor(hn::ShiftRight<32>(p), e), second);
      x = hn::Xor(hn::Xor(hn::ShiftRight<32>(s), y), first);
      z = hn::Xor(hn::Xor(hn::ShiftRight<32>(r), w), second);
      b = q;
      e = p;
      y = s;
      w = r;
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    Put(d, a, b, c, e, out + 4 * i);
    Put(d, x, y, z, w, out + 4 * (i + lanes));
  }
}
#else
void PhiloxWords(const uint32_t* key, uint64_t block, uint32_t* out) {
  for (uint64_t i = 0; i < kPhiloxBlocks; ++i) {
    uint32_t c[4] = {static_cast<uint32_t>(block + i), static_cast<uint32_t>((block + i) >> 32), 0, 0};
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; ++round) {
      const uint64_t p = uint64_t{0xD2511F53u} * c[0], q = uint64_t{0xCD9E8D57u} * c[2];
      c[0] = static_cast<uint32_t>(q >> 32) ^ c[1] ^ k0;
      c[1] = static_cast<uint32_t>(q);
      c[2] = static_cast<uint32_t>(p >> 32) ^ c[3] ^ k1;
      c[3] = static_cast<uint32_t>(p);
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    for (int j = 0; j < 4; ++j) out[4 * i + static_cast<uint64_t>(j)] = c[j];
  }
}
#endif

namespace {

template <class T, size_t N>
HWY_INLINE T Series(T x, const double (&c)[N]) {
  T y = static_cast<T>(c[N - 1]);
  for (size_t i = N - 1; i > 0; --i) y = y * x + static_cast<T>(c[i - 1]);
  return y;
}

// log(u), 0 < u <= 1 and normal.
template <class T>
HWY_INLINE T LogOfUniform(T u) {
  using I = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  constexpr int kBits = sizeof(T) == 4 ? 23 : 52;
  const I bits = std::bit_cast<I>(u);
  const I e = (bits - std::bit_cast<I>(static_cast<T>(0.70710678118654752))) >> kBits;
  const T m = std::bit_cast<T>(
      static_cast<I>(bits - static_cast<I>(static_cast<std::make_unsigned_t<I>>(e) << kBits)));
  const T z = (m - 1) / (m + 1), s = z * z;
  T p;
  if constexpr (sizeof(T) == 4) {
    p = Series(s, {2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11});
  } else {
    p = Series(s, {2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19,
                   2.0 / 21, 2.0 / 23});
  }
  return static_cast<T>(e) * static_cast<T>(0.69314718055994531) + (z * s * p + (z + z));
}

// Two normal numbers from u in (0, 1] and v in [0, 1).
template <class T>
HWY_INLINE void Normals(T u, T v, T* first, T* second) {
  const T radius = std::sqrt(T(-2) * LogOfUniform(u));
  const T turns = v * 4;
  const int32_t quarter = static_cast<int32_t>(turns + T(0.5));
  const T x = (turns - static_cast<T>(quarter)) * static_cast<T>(1.5707963267948966), s = x * x;
  T sine, cosine;
  if constexpr (sizeof(T) == 4) {
    sine = x + x * s * Series(s, {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880});
    cosine = Series(s, {1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800});
  } else {
    sine = x + x * s *
                   Series(s, {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800,
                              1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000});
    cosine = Series(s, {1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600,
                        -1.0 / 87178291200, 1.0 / 20922789888000});
  }
  const bool odd = quarter & 1;
  const T c = odd ? sine : cosine, d = odd ? cosine : sine;
  *first = radius * ((quarter + 1) & 2 ? -c : c);
  *second = radius * (quarter & 2 ? -d : d);
}

}  // namespace

// kPhiloxWords normal numbers of mean 0 from kPhiloxWords words.
void NormalFloats(const uint32_t* words, float* out) {
  float u[kPhiloxWords / 2], v[kPhiloxWords / 2], a[kPhiloxWords / 2], b[kPhiloxWords / 2];
  for (int64_t i = 0; i < kPhiloxWords / 2; ++i) {
    u[i] = static_cast<float>(static_cast<int32_t>(words[2 * i] >> 8) + 1) * 0x1p-24f;
    v[i] = static_cast<float>(static_cast<int32_t>(words[2 * i + 1] >> 8)) * 0x1p-24f;
  }
  for (int64_t i = 0; i < kPhiloxWords / 2; ++i) Normals(u[i], v[i], a + i, b + i);
  for (int64_t i = 0; i < kPhiloxWords / 2; ++i) {
    out[2 * i] = a[i];
    out[2 * i + 1] = b[i];
  }
}

// kPhiloxWords / 2 of them in f64.
void NormalDoubles(const uint32_t* words, double* out) {
  for (int64_t i = 0; i < kPhiloxWords / 4; ++i) {
    const uint32_t* w = words + 4 * i;
    const uint64_t u = (uint64_t{w[0]} << 21) + (w[1] >> 11), v = (uint64_t{w[2]} << 21) + (w[3] >> 11);
    Normals(static_cast<double>(u + 1) * 0x1p-53, static_cast<double>(v) * 0x1p-53, out + 2 * i,
            out + 2 * i + 1);
  }
}

PhiloxFns FindPhilox() { return {PhiloxWords, NormalFloats, NormalDoubles}; }

}  // namespace plimsoll::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll {
HWY_EXPORT(FindPhilox);

PhiloxFns philox_functions() { return HWY_DYNAMIC_DISPATCH(FindPhilox)(); }

}  // namespace plimsoll
#endif
