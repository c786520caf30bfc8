// Random numbers by Philox 4x32-10 (Salmon et al., SC 2011). Word w of a key is lane w % 4 of the block with
// counter (w / 4, 0). 32-bit elements take word i, 64-bit ones words 2i and 2i + 1; two normal numbers take
// the words of two uniform ones (Box and Muller). Only exact operations and plain additions and products are used, in one order:
// the bits are the same on every target, for every number of threads.
#include "device/cpu/highway.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/random.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#ifndef PLIMSOLL_RANDOM_WORDS
#define PLIMSOLL_RANDOM_WORDS
namespace plimsoll {
inline constexpr int64_t kLanes = 16;       // blocks made side by side
inline constexpr int64_t kWords = 4 * kLanes;  // words made by one call
struct RandomFns {
  void (*words)(const uint32_t* key, uint64_t block, uint32_t* out);
  void (*floats)(const uint32_t* words, float* out);
  void (*doubles)(const uint32_t* words, double* out);
};
}  // namespace plimsoll
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Words [4 block, 4 block + kWords) of the key. A 64-bit lane holds a block's word in its low half; what is in the high half
// is of no account, because only low halves are multiplied and, in the end, stored.
#if HWY_TARGET != HWY_SCALAR
void PhiloxWords(const uint32_t* key, uint64_t block, uint32_t* out) {
  const hn::CappedTag<uint64_t, kLanes / 2> d;
  const hn::Repartition<uint32_t, decltype(d)> d32;
  const auto m0 = hn::BitCast(d32, hn::Set(d, 0xD2511F53u)), m1 = hn::BitCast(d32, hn::Set(d, 0xCD9E8D57u));
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto low = hn::Set(d, 0xFFFFFFFFu);
  // Two vectors of blocks at once: ten rounds are one long chain.
  for (int64_t i = 0; i < kLanes; i += 2 * lanes) {
    auto a = hn::Iota(d, block + static_cast<uint64_t>(i)), x = hn::Iota(d, block + static_cast<uint64_t>(i + lanes));
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
    const auto put = [&](auto v0, auto v1, auto v2, auto v3, int64_t at) HWY_ATTR {
      hn::StoreInterleaved2(hn::Or(hn::And(v0, low), hn::ShiftLeft<32>(v1)), hn::Or(hn::And(v2, low), hn::ShiftLeft<32>(v3)), d,
                            reinterpret_cast<uint64_t*>(out + 4 * at));
    };
    put(a, b, c, e, i);
    put(x, y, z, w, i + lanes);
  }
}
#else
void PhiloxWords(const uint32_t* key, uint64_t block, uint32_t* out) {
  for (uint64_t i = 0; i < kLanes; ++i) {
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
  const T m = std::bit_cast<T>(static_cast<I>(bits - static_cast<I>(static_cast<std::make_unsigned_t<I>>(e) << kBits)));
  const T z = (m - 1) / (m + 1), s = z * z;
  T p;
  if constexpr (sizeof(T) == 4) {
    p = Series(s, {2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11});
  } else {
    p = Series(s, {2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23});
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
    sine = x + x * s * Series(s, {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800,
                                  -1.0 / 1307674368000, 1.0 / 355687428096000});
    cosine = Series(s, {1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600,
                        -1.0 / 87178291200, 1.0 / 20922789888000});
  }
  const bool odd = quarter & 1;
  const T c = odd ? sine : cosine, d = odd ? cosine : sine;
  *first = radius * ((quarter + 1) & 2 ? -c : c);
  *second = radius * (quarter & 2 ? -d : d);
}

}  // namespace

// kWords normal numbers of mean 0 from kWords words.
void NormalFloats(const uint32_t* words, float* out) {
  float u[kWords / 2], v[kWords / 2], a[kWords / 2], b[kWords / 2];
  for (int64_t i = 0; i < kWords / 2; ++i) {
    u[i] = static_cast<float>(static_cast<int32_t>(words[2 * i] >> 8) + 1) * 0x1p-24f;
    v[i] = static_cast<float>(static_cast<int32_t>(words[2 * i + 1] >> 8)) * 0x1p-24f;
  }
  for (int64_t i = 0; i < kWords / 2; ++i) Normals(u[i], v[i], a + i, b + i);
  for (int64_t i = 0; i < kWords / 2; ++i) {
    out[2 * i] = a[i];
    out[2 * i + 1] = b[i];
  }
}

// kWords / 2 of them in f64.
void NormalDoubles(const uint32_t* words, double* out) {
  for (int64_t i = 0; i < kWords / 4; ++i) {
    const uint32_t* w = words + 4 * i;
    const uint64_t u = (uint64_t{w[0]} << 21) + (w[1] >> 11), v = (uint64_t{w[2]} << 21) + (w[3] >> 11);
    Normals(static_cast<double>(u + 1) * 0x1p-53, static_cast<double>(v) * 0x1p-53, out + 2 * i, out + 2 * i + 1);
  }
}

RandomFns FindRandom() { return {PhiloxWords, NormalFloats, NormalDoubles}; }

}  // namespace plimsoll::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <cstring>

#include "device/cpu/thread_pool.h"
#include "device/cpu/typed.h"
#include "device/kernel.h"
#include "ops/elementwise.h"

namespace plimsoll {
HWY_EXPORT(FindRandom);
namespace {

constexpr std::array kWord = {DType::u32};

void require_key(const OpCall& call) {
  require(call.in[0] == TensorType{DType::u32, Shape{2}}, call.op.name, "expected a key of uint32(2,), got ", call.in[0]);
}

struct State : RandomFns {
  int64_t total;
  int threads;
  double a, b;  // low and high, or mean and deviation
};

State state_of(const KernelQuery& q, double a, double b) {
  return {HWY_DYNAMIC_DISPATCH(FindRandom)(), q.out[0].shape.elements(), q.threads, a, b};
}

// Calls make(words, first element, count) for all elements, kWords / kPerElement at a time.
template <int64_t kPerElement, class F>
void generate(const State& s, const void* key, F make) {
  constexpr int64_t kCount = kWords / kPerElement, kChunk = 256;
  const int64_t calls = (s.total + kCount - 1) / kCount;
  const int threads = s.total < 32768 ? 1 : s.threads;
  parallel_for((calls + kChunk - 1) / kChunk, threads, [&](int64_t chunk, int) noexcept {
    alignas(64) uint32_t words[kWords];
    for (int64_t c = chunk * kChunk; c < std::min(calls, (chunk + 1) * kChunk); ++c) {
      s.words(static_cast<const uint32_t*>(key), static_cast<uint64_t>(c * kLanes), words);
      make(words, c * kCount, std::min(kCount, s.total - c * kCount));
    }
  });
}

void run_bits(const State& s, void* const* args) {
  generate<1>(s, args[0], [&](const uint32_t* words, int64_t first, int64_t n) noexcept {
    std::memcpy(static_cast<uint32_t*>(args[1]) + first, words, static_cast<size_t>(n) * 4);
  });
}

// Fractions that the type holds exactly: a rounded one could become 1.
template <class T> constexpr int kFractionBits = std::is_same_v<T, HalfBits> ? 11 : std::is_same_v<T, BrainBits> ? 8 : 24;

template <class T>
void run_uniform(const State& s, void* const* args) {
  T* out = static_cast<T*>(args[1]);
  const float low = static_cast<float>(s.a), width = static_cast<float>(s.b - s.a);
  const float most = std::nextafter(static_cast<float>(s.b), low);
  generate<1>(s, args[0], [&](const uint32_t* words, int64_t first, int64_t n) noexcept {
    constexpr int kBits = kFractionBits<T>;
    for (int64_t i = 0; i < n; ++i) {
      const float u = static_cast<float>(static_cast<int32_t>(words[i] >> (32 - kBits))) * (1.0f / (1 << kBits));
      const float v = low + width * u;
      store(out[first + i], v < most || kBits < 24 ? v : most);
    }
  });
}

void run_uniform64(const State& s, void* const* args) {
  double* out = static_cast<double*>(args[1]);
  const double most = std::nextafter(s.b, s.a);
  generate<2>(s, args[0], [&](const uint32_t* words, int64_t first, int64_t n) noexcept {
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t bits = (uint64_t{words[2 * i]} << 21) + (words[2 * i + 1] >> 11);
      const double v = s.a + (s.b - s.a) * (static_cast<double>(bits) * 0x1p-53);
      out[first + i] = v < most ? v : most;
    }
  });
}

// low + (word x range) / 2^32: as even as 32 bits (64 for the wide types) can be.
template <class T>
void run_integers(const State& s, void* const* args) {
  T* out = static_cast<T*>(args[1]);
  const int64_t low = static_cast<int64_t>(s.a);
  const uint64_t range = static_cast<uint64_t>(s.b - s.a);
  constexpr int64_t kPerElement = sizeof(T) == 8 ? 2 : 1;
  generate<kPerElement>(s, args[0], [&](const uint32_t* words, int64_t first, int64_t n) noexcept {
    for (int64_t i = 0; i < n; ++i) {
      const uint32_t* w = words + kPerElement * i;
      const uint64_t high = (w[0] * range) >> 32;
      uint64_t offset = high;
      if constexpr (kPerElement == 2) {
        const unsigned __int128 bits = (static_cast<unsigned __int128>(w[0]) << 32) + w[1];
        offset = static_cast<uint64_t>((bits * range) >> 64);
      }
      out[first + i] = static_cast<T>(static_cast<uint64_t>(low) + offset);
    }
  });
}

template <class T>
void run_normal(const State& s, void* const* args) {
  T* out = static_cast<T*>(args[1]);
  const float mean = static_cast<float>(s.a), deviation = static_cast<float>(s.b);
  generate<1>(s, args[0], [&](const uint32_t* words, int64_t first, int64_t n) noexcept {
    float values[kWords];
    s.floats(words, values);
    for (int64_t i = 0; i < n; ++i) store(out[first + i], mean + deviation * values[i]);
  });
}

void run_normal64(const State& s, void* const* args) {
  double* out = static_cast<double*>(args[1]);
  generate<2>(s, args[0], [&](const uint32_t* words, int64_t first, int64_t n) noexcept {
    double values[kWords / 2];
    s.doubles(words, values);
    for (int64_t i = 0; i < n; ++i) out[first + i] = s.a + s.b * values[i];
  });
}

// The key of a use: the first two words of the block with the use's number as counter.
void run_fold(const State& s, void* const* args) {
  alignas(64) uint32_t words[kWords];
  s.words(static_cast<const uint32_t*>(args[0]), *static_cast<const uint32_t*>(args[1]), words);
  std::memcpy(args[2], words, 8);
}

Kernel prepare_bits(const KernelQuery& q) { return make_kernel<State, run_bits>("philox", state_of(q, 0, 0)); }
Kernel prepare_fold(const KernelQuery& q) { return make_kernel<State, run_fold>("philox", state_of(q, 0, 0)); }

Kernel prepare_uniform(const KernelQuery& q) {
  const State s = state_of(q, q.attrs.real("low"), q.attrs.real("high"));
  switch (q.out[0].dtype) {
    case DType::f16: return make_kernel<State, run_uniform<HalfBits>>("philox", s);
    case DType::bf16: return make_kernel<State, run_uniform<BrainBits>>("philox", s);
    case DType::f32: return make_kernel<State, run_uniform<float>>("philox", s);
    case DType::f64: return make_kernel<State, run_uniform64>("philox", s);
    case DType::u8: case DType::i8: return make_kernel<State, run_integers<uint8_t>>("philox", s);
    case DType::u16: case DType::i16: return make_kernel<State, run_integers<uint16_t>>("philox", s);
    case DType::u32: case DType::i32: return make_kernel<State, run_integers<uint32_t>>("philox", s);
    default: return make_kernel<State, run_integers<uint64_t>>("philox", s);
  }
}

Kernel prepare_normal(const KernelQuery& q) {
  const State s = state_of(q, q.attrs.real("mean"), q.attrs.real("stddev"));
  switch (q.out[0].dtype) {
    case DType::f16: return make_kernel<State, run_normal<HalfBits>>("philox", s);
    case DType::bf16: return make_kernel<State, run_normal<BrainBits>>("philox", s);
    case DType::f32: return make_kernel<State, run_normal<float>>("philox", s);
    default: return make_kernel<State, run_normal64>("philox", s);
  }
}

Shape shape_of(const OpCall& call) { return Shape(std::span<const int64_t>(call.attrs.ints("shape"))); }

std::vector<TensorType> infer_bits(const OpCall& call) {
  require_key(call);
  return {{DType::u32, shape_of(call)}};
}

std::vector<TensorType> infer_uniform(const OpCall& call) {
  require_key(call);
  const DType t = call.attrs.dtype("dtype");
  const double low = call.attrs.real("low"), high = call.attrs.real("high");
  require(t != DType::boolean && !is_complex(t), call.op.name, "expected a dtype of numbers, got ", t);
  require(std::isfinite(low) && std::isfinite(high) && low <= high, call.op.name, "expected low <= high, got ", low, " and ", high);
  if (is_integer(t)) {
    const double bits = static_cast<double>(8 * size_of(t) - (is_signed_int(t) ? 1 : 0));
    require(low < high && low >= (is_signed_int(t) ? -std::exp2(bits) : 0) && high <= std::exp2(bits) && high - low < 0x1p63 &&
                std::abs(low) < 0x1p63, call.op.name, "expected bounds within ", t, ", got ", low, " and ", high);
  }
  return {{t, shape_of(call)}};
}

std::vector<TensorType> infer_normal(const OpCall& call) {
  require_key(call);
  const DType t = call.attrs.dtype("dtype");
  require(is_float(t), call.op.name, "expected a dtype of floats, got ", t);
  return {{t, shape_of(call)}};
}

std::vector<TensorType> infer_fold(const OpCall& call) {
  require_key(call);
  require(call.in[1] == TensorType{DType::u32, Shape{}}, call.op.name, "expected an index of uint32(), got ", call.in[1]);
  return {call.in[0]};
}

const InputCase kKey{Shape{2}, 0, 4e9, DType::u32};
const Ints kShapes[] = {{}, {7}, {0, 3}, {5, 1, 17}, {1031}};

std::vector<OpCase> cases_bits() {
  std::vector<OpCase> list;
  for (const Ints& shape : kShapes) list.push_back({{kKey}, {{"shape", shape}}, false});
  return list;
}
std::vector<OpCase> cases_uniform() {
  std::vector<OpCase> list;
  for (const DType t : kNumbers) list.push_back({{kKey}, {{"dtype", t}, {"shape", Ints{3, 50}}, {"low", 1.0}, {"high", 9.0}}, false});
  for (const Ints& shape : kShapes) list.push_back({{kKey}, {{"dtype", DType::f32}, {"shape", shape}}, false});
  return list;
}
std::vector<OpCase> cases_normal() {
  std::vector<OpCase> list;
  for (const DType t : kFloats) {
    list.push_back({{kKey}, {{"dtype", t}, {"shape", Ints{3, 50}}, {"mean", 1.0}, {"stddev", 2.0}}, false});
  }
  for (const Ints& shape : kShapes) list.push_back({{kKey}, {{"dtype", DType::f32}, {"shape", shape}}, false});
  return list;
}
std::vector<OpCase> cases_fold() { return {{{kKey, {Shape{}, 0, 4e9, DType::u32}}, {}, false}}; }

constexpr AttrDef kBitsAttrs[] = {{"shape", AttrKind::ints}};
constexpr AttrDef kUniformAttrs[] = {{"dtype", AttrKind::dtype}, {"high", AttrKind::real, "1.0"}, {"low", AttrKind::real, "0.0"},
                                     {"shape", AttrKind::ints}};
constexpr AttrDef kNormalAttrs[] = {{"dtype", AttrKind::dtype}, {"mean", AttrKind::real, "0.0"}, {"shape", AttrKind::ints},
                                    {"stddev", AttrKind::real, "1.0"}};
constexpr KernelDef kBits[] = {{.name = "philox", .prepare = prepare_bits}};
constexpr KernelDef kUniform[] = {{.name = "philox", .prepare = prepare_uniform}};
constexpr KernelDef kNormal[] = {{.name = "philox", .prepare = prepare_normal}};
constexpr KernelDef kFold[] = {{.name = "philox", .prepare = prepare_fold}};
constexpr OpDef kDefs[] = {
    {.name = "random_bits", .attrs = kBitsAttrs, .infer = infer_bits, .kernels = kBits, .cases = cases_bits, .dtypes = kWord},
    {.name = "random_uniform", .attrs = kUniformAttrs, .infer = infer_uniform, .kernels = kUniform, .cases = cases_uniform,
     .dtypes = kWord},
    {.name = "random_normal", .attrs = kNormalAttrs, .infer = infer_normal, .kernels = kNormal, .cases = cases_normal,
     .dtypes = kWord},
    {.name = "fold_in", .arity = {2, 2}, .infer = infer_fold, .kernels = kFold, .cases = cases_fold, .dtypes = kWord},
};

Ints sizes(const Shape& shape) { return Ints(shape.begin(), shape.end()); }

}  // namespace

std::span<const OpDef> ops_random() { return kDefs; }

Tensor random_bits(const Tensor& key, const Shape& shape) {
  return apply1(get_op("random_bits"), {key}, {{"shape", sizes(shape)}});
}
Tensor random_uniform(const Tensor& key, const Shape& shape, DType dtype, double low, double high) {
  return apply1(get_op("random_uniform"), {key}, {{"shape", sizes(shape)}, {"dtype", dtype}, {"low", low}, {"high", high}});
}
Tensor random_normal(const Tensor& key, const Shape& shape, DType dtype, double mean, double stddev) {
  return apply1(get_op("random_normal"), {key}, {{"shape", sizes(shape)}, {"dtype", dtype}, {"mean", mean}, {"stddev", stddev}});
}
Tensor fold_in(const Tensor& key, const Tensor& index) { return apply1(get_op("fold_in"), {key, cast(index, DType::u32)}); }

Tensor dropout(const Tensor& x, const Tensor& key, double rate) {
  require(rate >= 0 && rate < 1, "dropout", "expected a rate in [0, 1), got ", rate);
  if (rate == 0) return x;
  // An element stays if its 32 bits are at or above the rate.
  const Tensor bits = random_bits(key, x.shape());
  const Tensor stays = greater_equal(bits, scalar_like(bits, std::floor(rate * 0x1p32)));
  return where(stays, x * (1 / (1 - rate)), scalar_like(x, 0));
}

}  // namespace plimsoll
#endif
