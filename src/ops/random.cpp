// Random numbers by Philox. Word w of a key is lane w % 4 of block w / 4. 32-bit elements take word i, 64-bit
// ones words 2i and 2i + 1; two normal numbers take the words of two uniform ones. An element depends on the
// key and its place alone, so the bits are the same on every target and for every number of threads. The
// ops ending in _at give the elements from number `first` on: what some rows of a longer tensor would have.
#include <cmath>
#include <cstring>

#include "device/cpu/philox.h"
#include "device/cpu/thread_pool.h"
#include "device/cpu/typed.h"
#include "device/kernel.h"
#include "graph/rows.h"
#include "ops/elementwise.h"

namespace plimsoll {
namespace {

constexpr std::array kWord = {DType::u32};

void require_key(const OpCall& call) {
  require(call.in[0] == TensorType{DType::u32, Shape{2}}, call.op.name, "expected a key of uint32(2,), got ",
          call.in[0]);
}

struct State : PhiloxFns {
  int64_t first, total;  // elements
  int threads;
  double a, b;  // low and high, or mean and deviation
};

State state_of(const KernelQuery& q, double a, double b) {
  const Attr* first = q.attrs.find("first");
  return {
      philox_functions(), first ? std::get<int64_t>(*first) : 0, q.out[0].shape.elements(), q.threads, a, b};
}

// Calls make(words, where the element of the first word goes, begin, end) for all elements, kPhiloxWords /
// kPerElement at a time; of these, begin to end are wanted.
template <int64_t kPerElement, class F>
void generate(const State& s, const void* key, F make) {
  constexpr int64_t kCount = kPhiloxWords / kPerElement, kChunk = 256;
  const int64_t before = s.first / kCount, calls = (s.first + s.total + kCount - 1) / kCount - before;
  const int threads = s.total < 32768 ? 1 : s.threads;
  parallel_for((calls + kChunk - 1) / kChunk, threads, [&](int64_t chunk, int) noexcept {
    alignas(64) uint32_t words[kPhiloxWords];
    for (int64_t c = chunk * kChunk; c < std::min(calls, (chunk + 1) * kChunk); ++c) {
      s.words(static_cast<const uint32_t*>(key), static_cast<uint64_t>((before + c) * kPhiloxBlocks), words);
      const int64_t to = (before + c) * kCount - s.first;
      make(words, to, std::max<int64_t>(-to, 0), std::min(kCount, s.total - to));
    }
  });
}

void run_bits(const State& s, void* const* args) {
  generate<1>(s, args[0], [&](const uint32_t* words, int64_t to, int64_t begin, int64_t end) noexcept {
    std::memcpy(static_cast<uint32_t*>(args[1]) + to + begin, words + begin,
                static_cast<size_t>(end - begin) * 4);
  });
}

// Fractions that the type holds exactly: a rounded one could become 1.
template <class T>
constexpr int kFractionBits = std::is_same_v<T, HalfBits>    ? 11
                              : std::is_same_v<T, BrainBits> ? 8
                                                             : 24;

template <class T>
void run_uniform(const State& s, void* const* args) {
  T* out = static_cast<T*>(args[1]);
  const float low = static_cast<float>(s.a), width = static_cast<float>(s.b - s.a);
  const float most = std::nextafter(static_cast<float>(s.b), low);
  generate<1>(s, args[0], [&](const uint32_t* words, int64_t to, int64_t begin, int64_t end) noexcept {
    constexpr int kBits = kFractionBits<T>;
    for (int64_t i = begin; i < end; ++i) {
      const float u =
          static_cast<float>(static_cast<int32_t>(words[i] >> (32 - kBits))) * (1.0f / (1 << kBits));
      const float v = low + width * u;
      store(out[to + i], v < most || kBits < 24 ? v : most);
    }
  });
}

void run_uniform64(const State& s, void* const* args) {
  double* out = static_cast<double*>(args[1]);
  const double most = std::nextafter(s.b, s.a);
  generate<2>(s, args[0], [&](const uint32_t* words, int64_t to, int64_t begin, int64_t end) noexcept {
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t bits = (uint64_t{words[2 * i]} << 21) + (words[2 * i + 1] >> 11);
      const double v = s.a + (s.b - s.a) * (static_cast<double>(bits) * 0x1p-53);
      out[to + i] = v < most ? v : most;
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
  generate<kPerElement>(
      s, args[0], [&](const uint32_t* words, int64_t to, int64_t begin, int64_t end) noexcept {
        for (int64_t i = begin; i < end; ++i) {
          const uint32_t* w = words + kPerElement * i;
          const uint64_t high = (w[0] * range) >> 32;
          uint64_t offset = high;
          if constexpr (kPerElement == 2) {
            const unsigned __int128 bits = (static_cast<unsigned __int128>(w[0]) << 32) + w[1];
            offset = static_cast<uint64_t>((bits * range) >> 64);
          }
          out[to + i] = static_cast<T>(static_cast<uint64_t>(low) + offset);
        }
      });
}

template <class T>
void run_normal(const State& s, void* const* args) {
  T* out = static_cast<T*>(args[1]);
  const float mean = static_cast<float>(s.a), deviation = static_cast<float>(s.b);
  generate<1>(s, args[0], [&](const uint32_t* words, int64_t to, int64_t begin, int64_t end) noexcept {
    float values[kPhiloxWords];
    s.floats(words, values);
    for (int64_t i = begin; i < end; ++i) store(out[to + i], mean + deviation * values[i]);
  });
}

void run_normal64(const State& s, void* const* args) {
  double* out = static_cast<double*>(args[1]);
  generate<2>(s, args[0], [&](const uint32_t* words, int64_t to, int64_t begin, int64_t end) noexcept {
    double values[kPhiloxWords / 2];
    s.doubles(words, values);
    for (int64_t i = begin; i < end; ++i) out[to + i] = s.a + s.b * values[i];
  });
}

// The key of a use: the first two words of the block with the use's number as counter.
void run_fold(const State& s, void* const* args) {
  alignas(64) uint32_t words[kPhiloxWords];
  s.words(static_cast<const uint32_t*>(args[0]), *static_cast<const uint32_t*>(args[1]), words);
  std::memcpy(args[2], words, 8);
}

Kernel prepare_bits(const KernelQuery& q) {
  return make_kernel<State, run_bits>("philox", state_of(q, 0, 0));
}
Kernel prepare_fold(const KernelQuery& q) {
  return make_kernel<State, run_fold>("philox", state_of(q, 0, 0));
}

Kernel prepare_uniform(const KernelQuery& q) {
  const State s = state_of(q, q.attrs.real("low"), q.attrs.real("high"));
  switch (q.out[0].dtype) {
    case DType::f16: return make_kernel<State, run_uniform<HalfBits>>("philox", s);
    case DType::bf16: return make_kernel<State, run_uniform<BrainBits>>("philox", s);
    case DType::f32: return make_kernel<State, run_uniform<float>>("philox", s);
    case DType::f64: return make_kernel<State, run_uniform64>("philox", s);
    case DType::u8:
    case DType::i8: return make_kernel<State, run_integers<uint8_t>>("philox", s);
    case DType::u16:
    case DType::i16: return make_kernel<State, run_integers<uint16_t>>("philox", s);
    case DType::u32:
    case DType::i32: return make_kernel<State, run_integers<uint32_t>>("philox", s);
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
  require(std::isfinite(low) && std::isfinite(high) && low <= high, call.op.name,
          "expected low <= high, got ", low, " and ", high);
  if (is_integer(t)) {
    const double bits = static_cast<double>(8 * size_of(t) - (is_signed_int(t) ? 1 : 0));
    require(low < high && low >= (is_signed_int(t) ? -std::exp2(bits) : 0) && high <= std::exp2(bits) &&
                high - low < 0x1p63 && std::abs(low) < 0x1p63,
            call.op.name, "expected bounds within ", t, ", got ", low, " and ", high);
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
  require(call.in[1] == TensorType{DType::u32, Shape{}}, call.op.name, "expected an index of uint32(), got ",
          call.in[1]);
  return {call.in[0]};
}

// The same, but elements from number `first` on.
template <std::vector<TensorType> (*kInfer)(const OpCall&)>
std::vector<TensorType> infer_at(const OpCall& call) {
  const int64_t first = call.attrs.integer("first"), count = shape_of(call).elements();
  require(first >= 0 && first <= INT64_MAX / 16 - count, call.op.name,
          "expected a first element of at least 0, got ", first);
  return kInfer(call);
}

constexpr std::string_view kBitsName = "random_bits", kUniformName = "random_uniform",
                           kNormalName = "random_normal";

template <const std::string_view& kName>
std::vector<Tensor> decompose_at(std::span<const Tensor> in, const Attrs& attrs) {
  const Shape shape(std::span<const int64_t>(attrs.ints("shape")));
  const int64_t first = attrs.integer("first"), end = first + shape.elements();
  Attrs all;
  for (const auto& [name, value] : attrs) {
    if (name != "first") all.set(name, value);
  }
  all.set("shape", Ints{end});
  return {reshape(slice(apply1(get_op(kName), {in[0]}, std::move(all)), {first}, {end}), shape)};
}

std::optional<RowSplit> rows(const RowQuery& q) {
  if (q.is_input() || q.rows.axis != 0) return std::nullopt;
  return RowSplit{{{}}, {q.rows}};
}

RowPart row_part(const OpCall& whole, const RowSplit& split, int64_t first, int64_t count) {
  RowPart part = with_shape_attr("shape", whole, split, count);
  part.op = &get_op(std::string(whole.op.name) + "_at");
  const Shape shape = shape_of(whole);
  part.attrs.set("first", first * split.out[0].per * (shape.elements() / shape[0]));
  return part;
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
  for (const DType t : kNumbers)
    list.push_back({{kKey}, {{"dtype", t}, {"shape", Ints{3, 50}}, {"low", 1.0}, {"high", 9.0}}, false});
  for (const Ints& shape : kShapes)
    list.push_back({{kKey}, {{"dtype", DType::f32}, {"shape", shape}}, false});
  return list;
}
std::vector<OpCase> cases_normal() {
  std::vector<OpCase> list;
  for (const DType t : kFloats) {
    list.push_back({{kKey}, {{"dtype", t}, {"shape", Ints{3, 50}}, {"mean", 1.0}, {"stddev", 2.0}}, false});
  }
  for (const Ints& shape : kShapes)
    list.push_back({{kKey}, {{"dtype", DType::f32}, {"shape", shape}}, false});
  return list;
}
// In the middle of the words that are made at once, too.
template <std::vector<OpCase> (*kCases)()>
std::vector<OpCase> cases_at() {
  std::vector<OpCase> list = kCases();
  for (size_t i = 0; i < list.size(); ++i) list[i].attrs.set("first", static_cast<int64_t>(i * i * 7));
  return list;
}
std::vector<OpCase> cases_fold() { return {{{kKey, {Shape{}, 0, 4e9, DType::u32}}, {}, false}}; }

constexpr AttrDef kBitsAttrs[] = {{"shape", AttrKind::ints}};
constexpr AttrDef kBitsAtAttrs[] = {{"first", AttrKind::integer}, {"shape", AttrKind::ints}};
constexpr AttrDef kUniformAttrs[] = {{"dtype", AttrKind::dtype},
                                     {"high", AttrKind::real, "1.0"},
                                     {"low", AttrKind::real, "0.0"},
                                     {"shape", AttrKind::ints}};
constexpr AttrDef kUniformAtAttrs[] = {{"dtype", AttrKind::dtype},
                                       {"first", AttrKind::integer},
                                       {"high", AttrKind::real, "1.0"},
                                       {"low", AttrKind::real, "0.0"},
                                       {"shape", AttrKind::ints}};
constexpr AttrDef kNormalAtAttrs[] = {{"dtype", AttrKind::dtype},
                                      {"first", AttrKind::integer},
                                      {"mean", AttrKind::real, "0.0"},
                                      {"shape", AttrKind::ints},
                                      {"stddev", AttrKind::real, "1.0"}};
constexpr AttrDef kNormalAttrs[] = {{"dtype", AttrKind::dtype},
                                    {"mean", AttrKind::real, "0.0"},
                                    {"shape", AttrKind::ints},
                                    {"stddev", AttrKind::real, "1.0"}};
constexpr KernelDef kBits[] = {{.name = "philox", .prepare = prepare_bits}};
constexpr KernelDef kUniform[] = {{.name = "philox", .prepare = prepare_uniform}};
constexpr KernelDef kNormal[] = {{.name = "philox", .prepare = prepare_normal}};
constexpr KernelDef kFold[] = {{.name = "philox", .prepare = prepare_fold}};
constexpr OpDef kDefs[] = {
    {.name = "random_bits",
     .attrs = kBitsAttrs,
     .infer = infer_bits,
     .kernels = kBits,
     .rows = rows,
     .row_part = row_part,
     .cases = cases_bits,
     .dtypes = kWord},
    {.name = "random_bits_at",
     .attrs = kBitsAtAttrs,
     .infer = infer_at<infer_bits>,
     .decompose = decompose_at<kBitsName>,
     .kernels = kBits,
     .cases = cases_at<cases_bits>,
     .dtypes = kWord},
    {.name = "random_uniform",
     .attrs = kUniformAttrs,
     .infer = infer_uniform,
     .kernels = kUniform,
     .rows = rows,
     .row_part = row_part,
     .cases = cases_uniform,
     .dtypes = kWord},
    {.name = "random_uniform_at",
     .attrs = kUniformAtAttrs,
     .infer = infer_at<infer_uniform>,
     .decompose = decompose_at<kUniformName>,
     .kernels = kUniform,
     .cases = cases_at<cases_uniform>,
     .dtypes = kWord},
    {.name = "random_normal",
     .attrs = kNormalAttrs,
     .infer = infer_normal,
     .kernels = kNormal,
     .rows = rows,
     .row_part = row_part,
     .cases = cases_normal,
     .dtypes = kWord},
    {.name = "random_normal_at",
     .attrs = kNormalAtAttrs,
     .infer = infer_at<infer_normal>,
     .decompose = decompose_at<kNormalName>,
     .kernels = kNormal,
     .cases = cases_at<cases_normal>,
     .dtypes = kWord},
    {.name = "fold_in",
     .arity = {2, 2},
     .infer = infer_fold,
     .kernels = kFold,
     .cases = cases_fold,
     .dtypes = kWord},
};

Ints sizes(const Shape& shape) { return Ints(shape.begin(), shape.end()); }

}  // namespace

std::span<const OpDef> ops_random() { return kDefs; }

Tensor random_bits(const Tensor& key, const Shape& shape) {
  return apply1(get_op("random_bits"), {key}, {{"shape", sizes(shape)}});
}
Tensor random_uniform(const Tensor& key, const Shape& shape, DType dtype, double low, double high) {
  return apply1(get_op("random_uniform"), {key},
                {{"shape", sizes(shape)}, {"dtype", dtype}, {"low", low}, {"high", high}});
}
Tensor random_normal(const Tensor& key, const Shape& shape, DType dtype, double mean, double stddev) {
  return apply1(get_op("random_normal"), {key},
                {{"shape", sizes(shape)}, {"dtype", dtype}, {"mean", mean}, {"stddev", stddev}});
}
Tensor fold_in(const Tensor& key, const Tensor& index) {
  return apply1(get_op("fold_in"), {key, cast(index, DType::u32)});
}

Tensor dropout(const Tensor& x, const Tensor& key, double rate) {
  require(rate >= 0 && rate < 1, "dropout", "expected a rate in [0, 1), got ", rate);
  if (rate == 0) return x;
  // An element stays if its 32 bits are at or above the rate.
  const Tensor bits = random_bits(key, x.shape());
  const Tensor stays = greater_equal(bits, scalar_like(bits, std::floor(rate * 0x1p32)));
  return where(stays, x * (1 / (1 - rate)), scalar_like(x, 0));
}

}  // namespace plimsoll
