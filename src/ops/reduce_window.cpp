// Windows over any axes, as XLA has them: reduce_window_sum, reduce_window_max, select_and_scatter_add, the
// gradient of the latter, and select_and_gather, the gradient of that: the elements of v where x is largest
// in each window. Padding adds nothing to a sum and never is a maximum. For pooling over images see
// max_pool.cpp.
#include <algorithm>
#include <array>
#include <limits>

#include "device/cpu/row_chunks.h"
#include "device/cpu/typed.h"
#include "device/kernel.h"
#include "graph/grad.h"
#include "graph/op.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

using Index = std::array<int64_t, Shape::kMaxRank>;
constexpr int64_t kLargest = int64_t{1} << 40;  // of an axis or a window: keeps sums of a few in range

Shape output_shape(std::string_view op, const Shape& x, const Attrs& attrs) {
  const Ints& window = attrs.ints("window");
  const Ints& strides = attrs.ints("strides");
  const Ints& low = attrs.ints("low");
  const Ints& high = attrs.ints("high");
  const size_t rank = static_cast<size_t>(x.rank());
  require(window.size() == rank && strides.size() == rank && low.size() == rank && high.size() == rank, op,
          "expected window, strides, low and high with one entry per axis of ", x);
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t size = x[static_cast<int>(i)];
    require(window[i] >= 1 && window[i] < kLargest && strides[i] >= 1, op,
            "expected windows and strides of at least 1, got ", window[i], " and ", strides[i]);
    require(size < kLargest, op, "expected axes of less than ", kLargest, ", got ", x);
    require(low[i] >= 0 && high[i] >= 0 && low[i] < window[i] && high[i] < window[i], op,
            "expected padding smaller than the window, got ", low[i], " and ", high[i]);
    const int64_t padded = size + low[i] + high[i];
    sizes.push_back(padded < window[i] ? 0 : (padded - window[i]) / strides[i] + 1);
  }
  return Shape(std::span<const int64_t>(sizes));
}

std::vector<TensorType> infer(const OpCall& call) {
  require(is_integer(call.in[0].dtype) || is_float(call.in[0].dtype), call.op.name,
          "expected real numbers, got ", call.in[0]);
  return {{call.in[0].dtype, output_shape(call.op.name, call.in[0].shape, call.attrs)}};
}

std::vector<TensorType> infer_select(const OpCall& call) {
  const TensorType dy{call.in[0].dtype, output_shape(call.op.name, call.in[0].shape, call.attrs)};
  require(is_float(call.in[0].dtype), call.op.name, "expected floats, got ", call.in[0]);
  require(call.in[1] == dy, call.op.name, "expected dy of type ", dy, ", got ", call.in[1]);
  return {call.in[0]};
}

std::vector<TensorType> infer_gather(const OpCall& call) {
  require(is_float(call.in[0].dtype), call.op.name, "expected floats, got ", call.in[0]);
  require(call.in[1] == call.in[0], call.op.name, "expected v of type ", call.in[0], ", got ", call.in[1]);
  return {{call.in[0].dtype, output_shape(call.op.name, call.in[0].shape, call.attrs)}};
}

struct State {
  Shape x, y;
  Index window, strides, low;
  int threads;
};

State make_state(const KernelQuery& q, const Shape& y) {
  State s{q.in[0].shape, y, {}, {}, {}, q.threads};
  const auto fill = [&](Index& to, std::string_view name) {
    const Ints& from = q.attrs.ints(name);
    std::copy(from.begin(), from.end(), to.begin());
  };
  fill(s.window, "window");
  fill(s.strides, "strides");
  fill(s.low, "low");
  return s;
}

// Calls visit(row-major offset in `shape`) for every point of the box [begin, end), in row-major order.
template <class F>
void each_in_box(const Shape& shape, const Index& begin, const Index& end, const F& visit) {
  const int rank = shape.rank();
  Index at = begin;
  for (;;) {
    int64_t offset = 0;
    for (int i = 0; i < rank; ++i) offset = offset * shape[i] + at[static_cast<size_t>(i)];
    visit(offset);
    int i = rank - 1;
    for (; i >= 0; --i) {
      const size_t k = static_cast<size_t>(i);
      if (++at[k] < end[k]) break;
      at[k] = begin[k];
    }
    if (i < 0) return;
  }
}

// Calls visit(offset in x) for every element of x under the window of output `r`.
template <class F>
void each_in_window(const State& s, int64_t r, const F& visit) {
  Index begin{}, end{};
  for (int i = s.x.rank() - 1; i >= 0; --i) {
    const size_t k = static_cast<size_t>(i);
    const int64_t first = r % s.y[i] * s.strides[k] - s.low[k];
    r /= s.y[i];
    begin[k] = std::max<int64_t>(first, 0);
    end[k] = std::min(first + s.window[k], s.x[i]);
    if (begin[k] >= end[k]) return;
  }
  each_in_box(s.x, begin, end, visit);
}

// Calls visit(r) for every output `r` whose window lies over element `at` of x.
template <class F>
void each_window_over(const State& s, int64_t at, const F& visit) {
  Index begin{}, end{};
  for (int i = s.x.rank() - 1; i >= 0; --i) {
    const size_t k = static_cast<size_t>(i);
    const int64_t place = at % s.x[i] + s.low[k];
    at /= s.x[i];
    begin[k] = place < s.window[k] ? 0 : (place - s.window[k]) / s.strides[k] + 1;
    end[k] = std::min(place / s.strides[k] + 1, s.y[i]);
    if (begin[k] >= end[k]) return;
  }
  each_in_box(s.y, begin, end, visit);
}

template <class V>
V lowest() {
  if constexpr (std::numeric_limits<V>::has_infinity)
    return -std::numeric_limits<V>::infinity();
  else
    return std::numeric_limits<V>::lowest();
}

template <class T, bool Max>
void run(const State& s, void* const* args) {
  using V = typename Loaded<T>::type;
  const T* x = static_cast<const T*>(args[0]);
  T* y = static_cast<T*>(args[1]);
  parallel_rows(s.y.elements(), 16, s.threads, [&](int64_t begin, int64_t end) noexcept {
    for (int64_t r = begin; r < end; ++r) {
      V total = Max ? lowest<V>() : V{};
      each_in_window(s, r, [&](int64_t at) {
        const V v = load(x[at]);
        if constexpr (Max)
          total = v > total || is_nan(v) ? v : total;
        else if constexpr (std::is_integral_v<V>)
          total = static_cast<V>(static_cast<uint64_t>(total) + static_cast<uint64_t>(v));
        else
          total += v;
      });
      store(y[r], total);
    }
  });
}

// Where x is largest under the window of output `r`, the first of equals; -1 if the window has no element.
template <class T>
int64_t largest_in_window(const State& s, const T* x, int64_t r) {
  int64_t best = -1;
  typename Loaded<T>::type most{};
  each_in_window(s, r, [&](int64_t at) {
    const auto v = load(x[at]);
    if (best < 0 || v > most || (is_nan(v) && !is_nan(most))) best = at, most = v;
  });
  return best;
}

// Windows overlap: first all maxima are found, then each element of dx takes what is its own, in the order of
// the windows.
template <class T>
void run_scatter(const State& s, void* const* args) {
  using V = typename Loaded<T>::type;
  const T* x = static_cast<const T*>(args[0]);
  const T* dy = static_cast<const T*>(args[1]);
  T* dx = static_cast<T*>(args[2]);
  int64_t* largest = static_cast<int64_t*>(args[3]);
  parallel_rows(s.y.elements(), 16, s.threads, [&](int64_t begin, int64_t end) noexcept {
    for (int64_t r = begin; r < end; ++r) largest[r] = largest_in_window(s, x, r);
  });
  parallel_rows(s.x.elements(), 16, s.threads, [&](int64_t begin, int64_t end) noexcept {
    for (int64_t at = begin; at < end; ++at) {
      V total{};
      each_window_over(s, at, [&](int64_t r) {
        if (largest[r] == at) total += load(dy[r]);
      });
      store(dx[at], total);
    }
  });
}

template <class T>
void run_gather(const State& s, void* const* args) {
  using V = typename Loaded<T>::type;
  const T* x = static_cast<const T*>(args[0]);
  const T* v = static_cast<const T*>(args[1]);
  T* y = static_cast<T*>(args[2]);
  parallel_rows(s.y.elements(), 16, s.threads, [&](int64_t begin, int64_t end) noexcept {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t at = largest_in_window(s, x, r);
      store(y[r], at < 0 ? V{} : load(v[at]));
    }
  });
}

template <bool Max>
Kernel prepare(const KernelQuery& q) {
  const State s = make_state(q, q.out[0].shape);
  return with_type(q.in[0].dtype, "reduce_window",
                   [&](auto t) { return make_kernel<State, run<decltype(t), Max>>("windows", s); });
}

template <bool Scatter>
Kernel prepare_select(const KernelQuery& q) {
  const Shape& y = Scatter ? q.in[1].shape : q.out[0].shape;
  const State s = make_state(q, y);
  return with_type(q.in[0].dtype, "select_and_scatter_add", [&](auto t) -> Kernel {
    using T = decltype(t);
    if constexpr (std::is_integral_v<T>)
      fail(ErrorKind::unsupported, "select_and_scatter_add", "no kernel for integers");
    else if constexpr (Scatter)
      return make_kernel<State, run_scatter<T>>("windows", s, byte_size(DType::i64, y));
    else
      return make_kernel<State, run_gather<T>>("windows", s);
  });
}

// Each element of dy goes to all of its window: a window sum over dy spread out by the strides.
void grad_sum(GradContext& g) {
  const Shape& x = g.in(0).shape();
  const Ints& window = g.attrs().ints("window");
  const Ints& strides = g.attrs().ints("strides");
  const Ints& low = g.attrs().ints("low");
  Ints before, after, between, ones(window.size(), 1), none(window.size(), 0);
  for (size_t i = 0; i < window.size(); ++i) {
    const int64_t n = g.dout().shape()[static_cast<int>(i)];
    const int64_t spread = n ? (n - 1) * strides[i] + 1 : 0;
    before.push_back(window[i] - 1 - low[i]);
    after.push_back(x[static_cast<int>(i)] + window[i] - 1 - spread - before.back());
    between.push_back(strides[i] - 1);
  }
  g.set(0, reduce_window_sum(pad(g.dout(), before, after, between), window, ones, none, none));
}

void grad_max(GradContext& g) {
  const Attrs& a = g.attrs();
  g.set(0, select_and_scatter_add(g.in(0), g.dout(), a.ints("window"), a.ints("strides"), a.ints("low"),
                                  a.ints("high")));
}

// Which element is the largest does not change with a small step of x: no gradient flows into it.
void grad_scatter(GradContext& g) {
  if (g.wants(1)) g.set(1, apply1(get_op("select_and_gather"), {g.in(0), g.dout()}, g.attrs()));
}

void grad_gather(GradContext& g) {
  if (g.wants(1)) g.set(1, apply1(get_op("select_and_scatter_add"), {g.in(0), g.dout()}, g.attrs()));
}

Attrs window_attrs(const Ints& window, const Ints& strides, const Ints& low, const Ints& high) {
  return {{"window", window}, {"strides", strides}, {"low", low}, {"high", high}};
}

std::vector<OpCase> cases() {
  const auto& options = window_attrs;
  return {{{{{9}}}, options({3}, {2}, {0}, {0})},
          {{{{5, 7}}}, options({2, 3}, {1, 2}, {1, 0}, {0, 2})},
          {{{{1, 4, 5, 2}}}, options({1, 2, 2, 1}, {1, 2, 2, 1}, {0, 0, 0, 0}, {0, 0, 1, 0})},
          {{{{3}}}, options({5}, {1}, {0}, {0})}};
}

std::vector<OpCase> cases_scatter() {
  return {{{{{9}}, {{4}}}, window_attrs({3}, {2}, {0}, {0})},
          {{{{5, 7}}, {{5, 4}}}, window_attrs({2, 3}, {1, 2}, {1, 0}, {0, 2})},
          {{{{1, 5, 4, 2}}, {{1, 2, 2, 2}}},
           window_attrs({1, 1, 2, 1}, {1, 3, 2, 1}, {0, 0, 0, 0}, {0, 0, 0, 0})}};
}

std::vector<OpCase> cases_gather() {
  return {{{{{9}}, {{9}}}, window_attrs({3}, {2}, {0}, {0})},
          {{{{5, 7}}, {{5, 7}}}, window_attrs({2, 3}, {1, 2}, {1, 0}, {0, 2})}};
}

constexpr AttrDef kAttrs[] = {{"window", AttrKind::ints},
                              {"strides", AttrKind::ints},
                              {"low", AttrKind::ints},
                              {"high", AttrKind::ints}};
constexpr KernelDef kSum[] = {{.name = "reference", .prepare = prepare<false>}};
constexpr KernelDef kMax[] = {{.name = "reference", .prepare = prepare<true>}};
constexpr KernelDef kScatter[] = {{.name = "reference", .prepare = prepare_select<true>}};
constexpr KernelDef kGather[] = {{.name = "reference", .prepare = prepare_select<false>}};

}  // namespace

Tensor reduce_window_sum(const Tensor& x, const Ints& window, const Ints& strides, const Ints& low,
                         const Ints& high) {
  return apply1(get_op("reduce_window_sum"), {x}, window_attrs(window, strides, low, high));
}
Tensor reduce_window_max(const Tensor& x, const Ints& window, const Ints& strides, const Ints& low,
                         const Ints& high) {
  return apply1(get_op("reduce_window_max"), {x}, window_attrs(window, strides, low, high));
}
Tensor select_and_scatter_add(const Tensor& x, const Tensor& dy, const Ints& window, const Ints& strides,
                              const Ints& low, const Ints& high) {
  return apply1(get_op("select_and_scatter_add"), {x, dy}, window_attrs(window, strides, low, high));
}

std::span<const OpDef> ops_reduce_window() {
  static constexpr OpDef defs[] = {
      {.name = "reduce_window_sum",
       .arity = {1, 1},
       .attrs = kAttrs,
       .infer = infer,
       .grad = grad_sum,
       .kernels = kSum,
       .cases = cases,
       .dtypes = kNumbers},
      {.name = "reduce_window_max",
       .arity = {1, 1},
       .attrs = kAttrs,
       .infer = infer,
       .grad = grad_max,
       .kernels = kMax,
       .cases = cases,
       .dtypes = kNumbers},
      {.name = "select_and_scatter_add",
       .arity = {2, 2},
       .attrs = kAttrs,
       .infer = infer_select,
       .grad = grad_scatter,
       .kernels = kScatter,
       .cases = cases_scatter,
       .dtypes = kFloats},
      {.name = "select_and_gather",
       .arity = {2, 2},
       .attrs = kAttrs,
       .infer = infer_gather,
       .grad = grad_gather,
       .kernels = kGather,
       .cases = cases_gather,
       .dtypes = kFloats},
  };
  return defs;
}

}  // namespace plimsoll
