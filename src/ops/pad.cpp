// pad: per axis, elements before, after and between those of the input; negative numbers before and after cut
// off.
#include <cstring>

#include "device/cpu/strided_copy.h"
#include "device/cpu/thread_pool.h"
#include "device/kernel.h"
#include "graph/elements.h"
#include "graph/rows.h"
#include "ops/elementwise.h"

namespace plimsoll {
namespace {

// One axis: which input elements appear (first, count), and where the first of them goes.
struct Axis {
  int64_t size, first, count, at, step;
};

Axis axis_of(int64_t size, int64_t low, int64_t high, int64_t interior) {
  const int64_t step = interior + 1;
  const int64_t full = size == 0 ? 0 : (size - 1) * step + 1;
  Axis a{std::max<int64_t>(0, full + low + high), 0, 0, 0, step};
  a.first = low >= 0 ? 0 : (-low + step - 1) / step;
  a.at = low + a.first * step;
  if (a.at < a.size && a.first < size) a.count = std::min(size - a.first, (a.size - 1 - a.at) / step + 1);
  return a;
}

Axis axis_of(const Shape& in, const Attrs& attrs, size_t i) {
  const Ints& interior = attrs.ints("interior");
  return axis_of(in[static_cast<int>(i)], attrs.ints("low")[i], attrs.ints("high")[i],
                 interior.empty() ? 0 : interior[i]);
}

std::vector<TensorType> infer(const OpCall& call) {
  const Shape& in = call.in[0].shape;
  const Ints &low = call.attrs.ints("low"), &high = call.attrs.ints("high"),
             &interior = call.attrs.ints("interior");
  const size_t rank = static_cast<size_t>(in.rank());
  require_dtype(call, 0, kAllReal);
  require(low.size() == rank && high.size() == rank && (interior.size() == rank || interior.empty()), "pad",
          "expected ", rank, " pads before, after and between for ", call.in[0], ", got ", low.size(), ", ",
          high.size(), " and ", interior.size());
  constexpr int64_t kMost = int64_t{1} << 60;
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < rank; ++i) {
    require(interior.empty() || (interior[i] >= 0 && interior[i] < kMost), "pad",
            "expected 0 or more elements between, got ", interior.empty() ? 0 : interior[i]);
    require(std::abs(low[i]) < kMost && std::abs(high[i]) < kMost, "pad",
            "expected pads that fit a tensor, got ", low[i], " and ", high[i]);
    checked_mul(in[static_cast<int>(i)], interior.empty() ? 1 : interior[i] + 1, "pad");
    sizes.push_back(axis_of(in, call.attrs, i).size);
  }
  return {{call.in[0].dtype, Shape(std::span<const int64_t>(sizes))}};
}

void grad(GradContext& g) {
  const Shape& in = g.in(0).shape();
  Ints low, high, starts, limits, strides, before, after;
  const Ints &l = g.attrs().ints("low"), &h = g.attrs().ints("high");
  bool cut = false;
  for (int i = 0; i < in.rank(); ++i) {
    const size_t a = static_cast<size_t>(i);
    const Axis x = axis_of(in, g.attrs(), a);
    starts.push_back(x.count == 0 ? 0 : x.at);
    limits.push_back(x.count == 0 ? 0 : x.at + (x.count - 1) * x.step + 1);
    strides.push_back(x.step);
    before.push_back(x.count == 0 ? 0 : x.first);
    after.push_back(x.count == 0 ? in[i] : in[i] - x.first - x.count);
    cut = cut || l[a] < 0 || h[a] < 0 || x.count != in[i];
  }
  const Tensor inside = slice(g.dout(), starts, limits, strides);
  g.set(0, cut ? pad(inside, before, after) : inside);
}

struct State {
  StridedCopy copy;
  int64_t to, from;  // bytes
  int64_t total;     // elements of the output; 0: nothing to fill
  size_t size;
  int threads;
  alignas(8) char value[8];
};

template <class T>
void fill(const State& s, void* out) {
  T value;
  std::memcpy(&value, s.value, sizeof(T));
  constexpr int64_t kChunk = 1 << 16;
  parallel_for(
      (s.total + kChunk - 1) / kChunk, s.total < 4 * kChunk ? 1 : s.threads, [&](int64_t c, int) noexcept {
        std::fill_n(static_cast<T*>(out) + c * kChunk, std::min(kChunk, s.total - c * kChunk), value);
      });
}

void run(const State& s, void* const* args) {
  switch (s.size) {
    case 1: fill<uint8_t>(s, args[1]); break;
    case 2: fill<uint16_t>(s, args[1]); break;
    case 4: fill<uint32_t>(s, args[1]); break;
    default: fill<uint64_t>(s, args[1]); break;
  }
  s.copy.run(static_cast<char*>(args[1]) + s.to, static_cast<const char*>(args[0]) + s.from);
}

Kernel prepare(const KernelQuery& q) {
  const Shape& in = q.in[0].shape;
  StridedCopy::Strides from = row_major(in), to = row_major(q.out[0].shape);
  State s{};
  s.size = size_of(q.in[0].dtype);
  const int64_t size = static_cast<int64_t>(s.size);
  std::vector<int64_t> box;
  for (size_t i = 0; i < static_cast<size_t>(in.rank()); ++i) {
    const Axis a = axis_of(in, q.attrs, i);
    box.push_back(a.count);
    if (a.count > 0) {
      s.to += a.at * to[i] * size;
      s.from += a.first * from[i] * size;
    }
    to[i] *= a.step;
  }
  const Shape copied{std::span<const int64_t>(box)};
  if (copied.elements() == 0) s.to = s.from = 0;
  s.copy = StridedCopy(copied, to, from, s.size, q.threads);
  s.total = copied.elements() == q.out[0].shape.elements() ? 0 : q.out[0].shape.elements();
  s.threads = q.threads;
  write_element(q.in[0].dtype, s.value, q.attrs.real("value"));
  return make_kernel<State, run>("strided copy", s);
}

std::optional<RowSplit> rows(const RowQuery& q) {
  const size_t axis = static_cast<size_t>(q.rows.axis);
  const Ints& interior = q.call.attrs.ints("interior");
  const bool padded = q.call.attrs.ints("low")[axis] != 0 || q.call.attrs.ints("high")[axis] != 0 ||
                      (!interior.empty() && interior[axis] != 0);
  return padded ? std::nullopt : rows_but(q, {});
}

std::vector<OpCase> cases() {
  struct Row {
    Shape shape;
    Ints low, high, interior;
    double value;
  };
  const Row rows[] = {{{7}, {2}, {3}, {}, 0},
                      {{7}, {-2}, {1}, {}, 1},
                      {{7}, {-2}, {-2}, {2}, 0},
                      {{}, {}, {}, {}, 0},
                      {{3, 4}, {0, 1}, {2, 0}, {1, 0}, 1},
                      {{0, 2}, {1, 0}, {1, 0}, {}, 1},
                      {{4}, {-3}, {-1}, {}, 0},
                      {{2, 3, 1, 5, 4}, {1, 0, 0, -1, 2}, {0, 1, 2, 0, 0}, {0, 0, 3, 1, 0}, 0},
                      {{40, 50}, {1, 1}, {1, 1}, {}, 0}};
  std::vector<OpCase> list;
  for (const Row& r : rows) {
    list.push_back(
        {{{r.shape}}, {{"low", r.low}, {"high", r.high}, {"interior", r.interior}, {"value", r.value}}});
  }
  return list;
}

constexpr AttrDef kAttrs[] = {{"high", AttrKind::ints},
                              {"interior", AttrKind::ints, "[]"},
                              {"low", AttrKind::ints},
                              {"value", AttrKind::real, "0.0"}};
constexpr KernelDef kKernels[] = {{.name = "strided copy", .prepare = prepare}};
constexpr OpDef kDefs[] = {{.name = "pad",
                            .attrs = kAttrs,
                            .infer = infer,
                            .grad = grad,
                            .kernels = kKernels,
                            .rows = rows,
                            .cases = cases,
                            .dtypes = kAllReal}};

}  // namespace

std::span<const OpDef> ops_pad() { return kDefs; }

Tensor pad(const Tensor& x, const Ints& low, const Ints& high, const Ints& interior, double value) {
  return apply1(get_op("pad"), {x}, {{"low", low}, {"high", high}, {"interior", interior}, {"value", value}});
}

}  // namespace plimsoll
