// reduce_sum, _prod, _max, _min, _and, _or over some axes. The result has the dtype of the input: integer
// sums wrap, float sums are kept in f64 on the way. Of nothing: 0, 1, the lowest or highest value, true,
// false.
#include "device/cpu/tile.h"
#include "graph/rows.h"
#include "ops/complex_parts.h"
#include "ops/elementwise.h"

namespace plimsoll {
namespace {

constexpr std::array kBools = {DType::boolean};

// The axes that are reduced; an empty list means all.
std::array<bool, Shape::kMaxRank> reduced(const Ints& axes, int rank, std::string_view place) {
  std::array<bool, Shape::kMaxRank> is{};
  for (const int64_t axis : axes) {
    const size_t a = static_cast<size_t>(normalize_axis(axis, rank, place));
    require(!is[a], place, "expected every axis once, got ", axis, " twice");
    is[a] = true;
  }
  if (axes.empty()) is.fill(true);
  return is;
}

Shape result_shape(const Shape& in, const Ints& axes, bool keepdims, std::string_view place) {
  const auto is = reduced(axes, in.rank(), place);
  std::vector<int64_t> sizes;
  for (int i = 0; i < in.rank(); ++i) {
    if (!is[static_cast<size_t>(i)])
      sizes.push_back(in[i]);
    else if (keepdims)
      sizes.push_back(1);
  }
  return Shape(std::span<const int64_t>(sizes));
}

std::vector<TensorType> infer(const OpCall& call) {
  require_dtype(call, 0, call.op.dtypes);
  return {{call.in[0].dtype, result_shape(call.in[0].shape, call.attrs.ints("axes"),
                                          call.attrs.flag("keepdims"), call.op.name)}};
}

template <Fold F>
Kernel prepare(const KernelQuery& q) {
  const Shape& in = q.in[0].shape;
  TileProgram program(in);
  const int x = program.read(0, q.in[0].dtype, broadcast_strides(in, in));
  program.fold(1, x, F, fold_strides(in, q.attrs.ints("axes")), q.out[0].shape.elements());
  return program.build("reduce", 2, q.threads);
}

// The result, or its gradient, with the reduced axes put back as 1.
Tensor kept(const GradContext& g, const Tensor& t) {
  return reshape(t, result_shape(g.in(0).shape(), g.attrs().ints("axes"), true, "reduce"));
}

void grad_sum(GradContext& g) {
  if (is_float(g.in(0).dtype())) g.set(0, broadcast_to(kept(g, g.dout()), g.in(0).shape()));
}

// The gradient goes in equal parts to all elements that are the extremum.
void grad_extremum(GradContext& g) {
  const Tensor& x = g.in(0);
  if (!is_float(x.dtype())) return;
  const Tensor hit = cast(equal(x, kept(g, g.out())), x.dtype());
  const Tensor share = kept(g, g.dout()) / sum(hit, g.attrs().ints("axes"), true);
  g.set(0, hit * share);
}

// Products of all other elements: cumulative products from both ends, so that zeros do no harm.
void grad_prod(GradContext& g) {
  const Tensor& x = g.in(0);
  if (!is_float(x.dtype()) || x.shape().elements() == 0) return;
  const auto is = reduced(g.attrs().ints("axes"), x.rank(), "reduce_prod");
  Ints order, back(static_cast<size_t>(x.rank()));
  std::vector<int64_t> moved;
  int64_t kept_count = 1, folded = 1;
  for (const bool last : {false, true}) {
    for (int i = 0; i < x.rank(); ++i) {
      if (is[static_cast<size_t>(i)] != last) continue;
      back[static_cast<size_t>(i)] = static_cast<int64_t>(order.size());
      order.push_back(i);
      moved.push_back(x.shape()[i]);
      (last ? folded : kept_count) *= x.shape()[i];
    }
  }
  const Tensor rows = reshape(transpose(x, order), Shape{kept_count, folded});
  const auto shifted = [&](bool reverse) {
    const Tensor part =
        reverse ? slice(rows, {0, 1}, {kept_count, folded}) : slice(rows, {0, 0}, {kept_count, folded - 1});
    return pad(cumprod(part, 1, reverse), {0, reverse ? 0 : 1}, {0, reverse ? 1 : 0}, {}, 1.0);
  };
  const Tensor others =
      folded > 1 ? shifted(false) * shifted(true) : broadcast_to(scalar_like(x, 1), rows.shape());
  const Tensor dx = others * reshape(g.dout(), Shape{kept_count, 1});
  g.set(0, transpose(reshape(dx, Shape(std::span<const int64_t>(moved))), back));
}

// Where each axis of the input is in the result; -1: nowhere.
std::vector<int> axes_kept(const RowQuery& q) {
  const int rank = q.call.in[0].shape.rank();
  const auto is = reduced(q.call.attrs.ints("axes"), rank, q.call.op.name);
  std::vector<int> kept;
  for (int i = 0, at = 0; i < rank; ++i) {
    const bool gone = is[static_cast<size_t>(i)];
    kept.push_back(gone ? -1 : at);
    if (!gone || q.call.attrs.flag("keepdims")) ++at;
  }
  return kept;
}

template <bool kSum>
std::optional<RowSplit> rows(const RowQuery& q) {
  const std::vector<int> kept = axes_kept(q);
  if (q.is_input()) {
    const int to = kept[static_cast<size_t>(q.rows.axis)];
    if (to < 0 && !kSum) return std::nullopt;
    return RowSplit{{q.rows}, {to < 0 ? Rows{Rows::kSummed} : Rows{to, q.rows.per}}};
  }
  const auto from = std::find(kept.begin(), kept.end(), q.rows.axis);
  if (from == kept.end()) return std::nullopt;
  return RowSplit{{{static_cast<int>(from - kept.begin()), q.rows.per}}, {q.rows}};
}

std::vector<OpCase> cases() {
  const std::pair<Shape, Ints> shapes[] = {
      {{}, {}},        {{7}, {0}},       {{1031}, {}},        {{33, 64}, {0}},
      {{33, 64}, {1}}, {{5, 4, 3}, {1}}, {{5, 4, 3}, {0, 2}}, {{2, 3, 1, 5, 4}, {-1, 1}},
      {{0, 3}, {1}},   {{3, 2}, {-2}},   {{40, 3001}, {0}}};
  std::vector<OpCase> list;
  for (const auto& [shape, axes] : shapes) {
    // Numbers near 1: a product of many must neither overflow nor vanish.
    list.push_back({{{shape, 0.5, 1.5}}, {{"axes", axes}, {"keepdims", shape.rank() == 3}}});
  }
  return list;
}

std::vector<OpCase> cases_extremum() {
  std::vector<OpCase> list;
  for (OpCase& c : cases()) {
    if (c.in[0].shape.elements() == 0) continue;  // the peers have no extremum of nothing
    c.in[0].low = -2;
    c.in[0].high = 2;
    list.push_back(c);
  }
  return list;
}

std::vector<OpCase> cases_bool() {
  std::vector<OpCase> list;
  for (OpCase& c : cases()) {
    c.in[0].low = 0;
    c.in[0].high = 1;
    c.differentiable = false;
    list.push_back(c);
  }
  return list;
}

constexpr AttrDef kAttrs[] = {{"axes", AttrKind::ints, "[]"}, {"keepdims", AttrKind::boolean, "false"}};
template <Fold F>
constexpr KernelDef kKernels[] = {{.name = "tiles", .prepare = prepare<F>}};

Cost cost(const OpCall& call, std::span<const TensorType> out) {
  return {static_cast<double>(call.in[0].shape.elements()),
          static_cast<double>(byte_size(call.in[0].dtype, call.in[0].shape) +
                              byte_size(out[0].dtype, out[0].shape))};
}

constexpr OpDef kDefs[] = {
    {.name = "reduce_sum",
     .attrs = kAttrs,
     .infer = infer,
     .grad = grad_sum,
     .kernels = kKernels<Fold::sum>,
     .cost = cost,
     .rows = rows<true>,
     .cases = cases,
     .dtypes = kNumbers},
    {.name = "reduce_prod",
     .attrs = kAttrs,
     .infer = infer,
     .grad = grad_prod,
     .kernels = kKernels<Fold::prod>,
     .cost = cost,
     .rows = rows<false>,
     .cases = cases,
     .dtypes = kNumbers},
    {.name = "reduce_max",
     .attrs = kAttrs,
     .infer = infer,
     .grad = grad_extremum,
     .kernels = kKernels<Fold::max>,
     .cost = cost,
     .rows = rows<false>,
     .cases = cases_extremum,
     .dtypes = kAllReal},
    {.name = "reduce_min",
     .attrs = kAttrs,
     .infer = infer,
     .grad = grad_extremum,
     .kernels = kKernels<Fold::min>,
     .cost = cost,
     .rows = rows<false>,
     .cases = cases_extremum,
     .dtypes = kAllReal},
    {.name = "reduce_and",
     .attrs = kAttrs,
     .infer = infer,
     .kernels = kKernels<Fold::logical_and>,
     .cost = cost,
     .rows = rows<false>,
     .cases = cases_bool,
     .dtypes = kBools},
    {.name = "reduce_or",
     .attrs = kAttrs,
     .infer = infer,
     .kernels = kKernels<Fold::logical_or>,
     .cost = cost,
     .rows = rows<false>,
     .cases = cases_bool,
     .dtypes = kBools},
};

Tensor reduce(std::string_view name, const Tensor& x, const Ints& axes, bool keepdims) {
  return apply1(get_op(name), {x}, {{"axes", axes}, {"keepdims", keepdims}});
}

int64_t count_of(const Tensor& x, const Ints& axes) {
  const Shape result = result_shape(x.shape(), axes, true, "mean");
  int64_t count = 1;
  for (int i = 0; i < x.rank(); ++i) count *= result[i] == x.shape()[i] ? 1 : x.shape()[i];
  return count;
}

}  // namespace

std::span<const OpDef> ops_reduce() { return kDefs; }

Tensor sum(const Tensor& x, const Ints& axes, bool keepdims) {
  if (is_complex(x.dtype())) return complex_sum(x, axes, keepdims);
  return reduce("reduce_sum", x.dtype() == DType::boolean ? cast(x, DType::i32) : x, axes, keepdims);
}
Tensor prod(const Tensor& x, const Ints& axes, bool keepdims) {
  return reduce("reduce_prod", x.dtype() == DType::boolean ? cast(x, DType::i32) : x, axes, keepdims);
}
Tensor max(const Tensor& x, const Ints& axes, bool keepdims) {
  return reduce("reduce_max", x, axes, keepdims);
}
Tensor min(const Tensor& x, const Ints& axes, bool keepdims) {
  return reduce("reduce_min", x, axes, keepdims);
}
Tensor all(const Tensor& x, const Ints& axes, bool keepdims) {
  return reduce("reduce_and", cast(x, DType::boolean), axes, keepdims);
}
Tensor any(const Tensor& x, const Ints& axes, bool keepdims) {
  return reduce("reduce_or", cast(x, DType::boolean), axes, keepdims);
}
Tensor mean(const Tensor& input, const Ints& axes, bool keepdims) {
  const Tensor x = to_float(input);
  // 0 / 0, the mean of nothing, is NaN as in NumPy.
  return sum(x, axes, keepdims) / static_cast<double>(count_of(x, axes));
}
Tensor variance(const Tensor& input, const Ints& axes, bool keepdims) {
  const Tensor x = to_float(input);
  return mean(square(x - mean(x, axes, true)), axes, keepdims);
}

}  // namespace plimsoll
