// average_pool(x): the mean over the points of each window that lie inside x, and average_pool_grad(dy), its
// gradient. Both are linear: each is the gradient of the other.
#include <algorithm>

#include "device/cpu/pool_kernels.h"
#include "graph/grad.h"
#include "graph/rows.h"
#include "ops/pool.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

constexpr std::array<AttrDef, 5> kGradAttrs = {
    kPoolAttrs[0], kPoolAttrs[1], kPoolAttrs[2], kPoolAttrs[3], {"input_shape", AttrKind::ints}};

std::vector<TensorType> infer(const OpCall& call) {
  require(is_float(call.in[0].dtype), "average_pool", "expected floats, got ", call.in[0]);
  return {{call.in[0].dtype, pool_output_shape(pool_geometry("average_pool", call.in[0].shape, call.attrs))}};
}

std::vector<TensorType> infer_grad(const OpCall& call) {
  require(is_float(call.in[0].dtype), "average_pool_grad", "expected floats, got ", call.in[0]);
  const Shape x(std::span<const int64_t>(call.attrs.ints("input_shape")));
  const Shape y = pool_output_shape(pool_geometry("average_pool_grad", x, call.attrs));
  require(call.in[0].shape == y, "average_pool_grad", "expected dy of shape ", y, ", got ", call.in[0].shape);
  return {{call.in[0].dtype, x}};
}

Attrs grad_attrs(const Attrs& attrs, const Shape& x) {
  Attrs mine = pool_attrs(attrs);
  mine.set("input_shape", Ints(x.begin(), x.end()));
  return mine;
}

void grad(GradContext& g) {
  if (g.wants(0))
    g.set(0, apply1(get_op("average_pool_grad"), {g.dout()}, grad_attrs(g.attrs(), g.in(0).shape())));
}

void grad_of_grad(GradContext& g) {
  if (g.wants(0)) g.set(0, apply1(get_op("average_pool"), {g.dout()}, pool_attrs(g.attrs())));
}

Cost cost(const OpCall& call, std::span<const TensorType> out) {
  Cost c;
  c.bytes = static_cast<double>(byte_size(call.in[0].dtype, call.in[0].shape) +
                                byte_size(out[0].dtype, out[0].shape));
  c.flops = static_cast<double>(std::max(call.in[0].shape.elements(), out[0].shape.elements()));
  return c;
}

std::optional<RowSplit> rows(const RowQuery& q) { return leading_rows(q, "b", "b"); }
RowPart row_part_grad(const OpCall& whole, const RowSplit& split, int64_t, int64_t count) {
  return with_shape_attr("input_shape", whole, split, count);
}

std::vector<OpCase> cases() {
  std::vector<OpCase> list;
  for (const PoolCase& c : pool_cases()) list.push_back({.in = {{c.x}}, .attrs = pool_attrs(c.options)});
  return list;
}

std::vector<OpCase> grad_cases() {
  std::vector<OpCase> list;
  for (const PoolCase& c : pool_cases()) {
    const Attrs attrs = grad_attrs(pool_attrs(c.options), c.x);
    const Shape y = pool_output_shape(pool_geometry("average_pool_grad", c.x, attrs));
    list.push_back({.in = {{y}}, .attrs = attrs});
  }
  return list;
}

}  // namespace

Tensor average_pool(const Tensor& x, const PoolOptions& options) {
  return apply1(get_op("average_pool"), {x}, pool_attrs(options));
}

std::span<const OpDef> ops_average_pool() {
  static constexpr KernelDef kernels[] = {
      {"highway", highway::pool_fits, highway::prepare_average_pool},
      {"reference", nullptr, reference::prepare_average_pool},
  };
  static constexpr KernelDef grad_kernels[] = {
      {"highway", highway::pool_fits, highway::prepare_average_pool_grad},
      {"reference", nullptr, reference::prepare_average_pool_grad},
  };
  static const OpDef defs[] = {
      {.name = "average_pool",
       .arity = {1, 1},
       .attrs = kPoolAttrs,
       .infer = infer,
       .grad = grad,
       .kernels = kernels,
       .cost = cost,
       .rows = rows,
       .cases = cases,
       .dtypes = kFloats},
      {.name = "average_pool_grad",
       .arity = {1, 1},
       .attrs = kGradAttrs,
       .infer = infer_grad,
       .grad = grad_of_grad,
       .kernels = grad_kernels,
       .cost = cost,
       .rows = rows,
       .row_part = row_part_grad,
       .cases = grad_cases,
       .dtypes = kFloats},
  };
  return defs;
}

}  // namespace plimsoll
