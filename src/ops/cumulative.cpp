// cumsum, cumprod and cummax along one axis, forwards or (reverse) from the end.
#include <algorithm>

#include "device/cpu/row_chunks.h"
#include "device/cpu/typed.h"
#include "device/kernel.h"
#include "graph/grad.h"
#include "graph/op.h"
#include "graph/rows.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

enum class Kind : uint8_t { sum, prod, max };

std::vector<TensorType> infer(const OpCall& call) {
  normalize_axis(call.attrs.integer("axis"), call.in[0].shape.rank(), call.op.name);
  require(is_integer(call.in[0].dtype) || is_float(call.in[0].dtype), call.op.name,
          "expected real numbers, got ", call.in[0]);
  return {call.in[0]};
}

struct State {
  int64_t outer, size, inner;
  bool reverse;
  int threads;
};

// Signed integers wrap, by way of unsigned ones.
template <class T, Kind K>
T combine(T a, T b) {
  if constexpr (K == Kind::max)
    return b > a || is_nan(b) ? b : a;
  else if constexpr (!std::is_integral_v<T>)
    return K == Kind::sum ? a + b : a * b;
  else if constexpr (K == Kind::sum)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

template <class T, Kind K>
void run(const State& s, void* const* args) {
  using V = typename Loaded<T>::type;
  const T* x = static_cast<const T*>(args[0]);
  T* y = static_cast<T*>(args[1]);
  parallel_rows(s.outer * s.inner, s.size, s.threads, [&](int64_t begin, int64_t end) noexcept {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t base = r / s.inner * s.size * s.inner + r % s.inner;
      V total{};
      for (int64_t k = 0; k < s.size; ++k) {
        const int64_t at = base + (s.reverse ? s.size - 1 - k : k) * s.inner;
        const V value = load(x[at]);
        total = k ? combine<V, K>(total, value) : value;
        store(y[at], total);
      }
    }
  });
}

template <Kind K>
Kernel prepare(const KernelQuery& q) {
  const Shape& x = q.in[0].shape;
  const int axis = normalize_axis(q.attrs.integer("axis"), x.rank(), "cumulative");
  State s{1, x[axis], 1, q.attrs.flag("reverse"), q.threads};
  for (int i = 0; i < axis; ++i) s.outer *= x[i];
  for (int i = axis + 1; i < x.rank(); ++i) s.inner *= x[i];
  return with_type(q.in[0].dtype, "cumulative",
                   [&](auto t) { return make_kernel<State, run<decltype(t), K>>("rows", s); });
}

uint64_t in_place(const OpCall&, int) { return 1; }

int axis_of(const GradContext& g) {
  return normalize_axis(g.attrs().integer("axis"), g.in(0).rank(), "cumulative");
}

void grad_sum(GradContext& g) { g.set(0, cumsum(g.dout(), axis_of(g), !g.attrs().flag("reverse"))); }

// d x_j = sum over i >= j of dy_i * (product of x_k, k <= i, k != j), which needs no division: with p the
// products up to j - 1, the rest is a sum over i of dy_i times the product of x_(j+1..i). As an n x n table
// per row it stays exact where an x is zero.
void grad_prod(GradContext& g) {
  const int axis = axis_of(g);
  const bool backwards = g.attrs().flag("reverse");
  const int last = g.in(0).rank() - 1;
  Ints front(static_cast<size_t>(last) + 1);
  for (int i = 0; i <= last; ++i) front[static_cast<size_t>(i)] = i;
  std::swap(front[static_cast<size_t>(axis)], front[static_cast<size_t>(last)]);
  const auto normal = [&](const Tensor& t) {
    const Tensor moved = transpose(t, front);
    return backwards ? reverse(moved, {last}) : moved;
  };
  const Tensor x = normal(g.in(0)), dy = normal(g.dout());
  const int64_t n = x.shape()[last];
  // table[.., j, k] = x_k, but 1 where k = j; its running products along k, times dy_k, summed over k >= j.
  const Shape square{n, n};
  const Tensor j = iota(DType::i32, square, 0), k = iota(DType::i32, square, 1);
  const Tensor table = where(equal(j, k), scalar_like(x, 1), expand_dims(x, last));
  const Tensor terms =
      where(greater_equal(k, j), cumprod(table, last + 1) * expand_dims(dy, last), scalar_like(x, 0));
  Tensor dx = sum(terms, {last + 1});
  if (backwards) dx = reverse(dx, {last});
  g.set(0, transpose(dx, front));
}

// The gradient goes to where each maximum was first met.
void grad_max(GradContext& g) {
  const int axis = axis_of(g);
  const bool backwards = g.attrs().flag("reverse");
  const Tensor position = iota(DType::i32, g.in(0).shape(), axis);
  const Tensor step =
      backwards ? scalar_like(position, static_cast<double>(g.in(0).shape()[axis] - 1)) - position : position;
  // A new maximum is met where x equals the running one and exceeds the one before: mark those, spread the
  // mark onwards.
  Tensor before = g.out();
  Ints low(static_cast<size_t>(g.in(0).rank()), 0), high = low;
  (backwards ? high : low)[static_cast<size_t>(axis)] = 1;
  (backwards ? low : high)[static_cast<size_t>(axis)] = -1;
  before = pad(before, low, high, {}, 0);
  const Tensor fresh = bitwise_or(equal(step, scalar_like(step, 0)), greater(g.out(), before));
  const Tensor origin = cummax(where(fresh, step, scalar_like(step, 0)), axis, backwards);
  const Tensor from =
      backwards ? scalar_like(origin, static_cast<double>(g.in(0).shape()[axis] - 1)) - origin : origin;
  // dx[from] += dy: as a table over (from, position) summed over the position.
  const Tensor target = expand_dims(from, axis);
  const Shape spread = g.in(0).shape().inserted(axis, g.in(0).shape()[axis]);
  const Tensor hits = equal(target, iota(DType::i32, spread, axis));
  g.set(0, sum(where(hits, expand_dims(g.dout(), axis), scalar_like(g.dout(), 0)), {axis + 1}));
}

std::vector<OpCase> cases() {
  return {{{{{7}}}, {{"axis", int64_t{0}}}},
          {{{{3, 5, 2}}}, {{"axis", int64_t{1}}, {"reverse", true}}},
          {{{{4, 1}}}, {{"axis", int64_t{-1}}}},
          {{{{0, 3}}}, {{"axis", int64_t{0}}}},
          {{{{2, 6}}}, {{"axis", int64_t{1}}}}};
}

constexpr AttrDef kAttrs[] = {{"axis", AttrKind::integer}, {"reverse", AttrKind::boolean, "false"}};
constexpr KernelDef kSum[] = {{.name = "reference", .prepare = prepare<Kind::sum>}};
constexpr KernelDef kProd[] = {{.name = "reference", .prepare = prepare<Kind::prod>}};
constexpr KernelDef kMax[] = {{.name = "reference", .prepare = prepare<Kind::max>}};

Tensor call(std::string_view name, const Tensor& x, int axis, bool reverse) {
  return apply1(get_op(name), {x}, {{"axis", int64_t{axis}}, {"reverse", reverse}});
}

}  // namespace

Tensor cumsum(const Tensor& x, int axis, bool reverse) { return call("cumsum", x, axis, reverse); }
Tensor cumprod(const Tensor& x, int axis, bool reverse) { return call("cumprod", x, axis, reverse); }
Tensor cummax(const Tensor& x, int axis, bool reverse) { return call("cummax", x, axis, reverse); }

std::span<const OpDef> ops_cumulative() {
  static constexpr OpDef defs[] = {
      {.name = "cumsum",
       .arity = {1, 1},
       .attrs = kAttrs,
       .infer = infer,
       .grad = grad_sum,
       .kernels = kSum,
       .in_place = in_place,
       .rows = rows_beside_axis,
       .cases = cases,
       .dtypes = kNumbers},
      {.name = "cumprod",
       .arity = {1, 1},
       .attrs = kAttrs,
       .infer = infer,
       .grad = grad_prod,
       .kernels = kProd,
       .in_place = in_place,
       .rows = rows_beside_axis,
       .cases = cases,
       .dtypes = kNumbers},
      {.name = "cummax",
       .arity = {1, 1},
       .attrs = kAttrs,
       .infer = infer,
       .grad = grad_max,
       .kernels = kMax,
       .in_place = in_place,
       .rows = rows_beside_axis,
       .cases = cases,
       .dtypes = kNumbers},
  };
  return defs;
}

}  // namespace plimsoll
