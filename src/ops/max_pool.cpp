// max_pool(x) -> y and, unless `index` is off, where in its window each maximum lies, so that the gradient
// needs neither x nor y: max_pool_grad(dy, index). The gradient of that in turn is max_pool_take(x, index).
#include <algorithm>

#include "device/cpu/pool_kernels.h"
#include "graph/grad.h"
#include "graph/rows.h"
#include "ops/pool.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

constexpr std::array<AttrDef, 5> kMaxAttrs = {
    kPoolAttrs[0], kPoolAttrs[1], kPoolAttrs[2], kPoolAttrs[3], {"index", AttrKind::boolean, "true"}};
constexpr std::array<AttrDef, 5> kGradAttrs = {
    kPoolAttrs[0], kPoolAttrs[1], kPoolAttrs[2], kPoolAttrs[3], {"input_shape", AttrKind::ints}};

void require_index(std::string_view op, const TensorType& got, const Shape& shape) {
  const TensorType expected{DType::u8, shape};
  require(got == expected, op, "expected an index of type ", expected, ", got ", got);
}

std::vector<TensorType> infer(const OpCall& call) {
  require(is_float(call.in[0].dtype), "max_pool", "expected floats, got ", call.in[0]);
  const PoolGeometry g = pool_geometry("max_pool", call.in[0].shape, call.attrs);
  std::vector<TensorType> out{{call.in[0].dtype, pool_output_shape(g)}};
  if (call.attrs.flag("index")) {
    require_byte_index("max_pool", g);
    out.push_back({DType::u8, out[0].shape});
  }
  return out;
}

std::vector<TensorType> infer_grad(const OpCall& call) {
  require(is_float(call.in[0].dtype), "max_pool_grad", "expected floats, got ", call.in[0]);
  const Shape x(std::span<const int64_t>(call.attrs.ints("input_shape")));
  const PoolGeometry g = pool_geometry("max_pool_grad", x, call.attrs);
  require_byte_index("max_pool_grad", g);
  const Shape y = pool_output_shape(g);
  require(call.in[0].shape == y, "max_pool_grad", "expected dy of shape ", y, ", got ", call.in[0].shape);
  require_index("max_pool_grad", call.in[1], y);
  return {{call.in[0].dtype, x}};
}

std::vector<TensorType> infer_take(const OpCall& call) {
  require(is_float(call.in[0].dtype), "max_pool_take", "expected floats, got ", call.in[0]);
  const PoolGeometry g = pool_geometry("max_pool_take", call.in[0].shape, call.attrs);
  require_byte_index("max_pool_take", g);
  require_index("max_pool_take", call.in[1], pool_output_shape(g));
  return {{call.in[0].dtype, pool_output_shape(g)}};
}

Attrs grad_attrs(const Attrs& attrs, const Shape& x) {
  Attrs mine = pool_attrs(attrs);
  mine.set("input_shape", Ints(x.begin(), x.end()));
  return mine;
}

void grad(GradContext& g) {
  if (!g.wants(0) || !g.has_dout()) return;
  Tensor index;
  if (g.outputs() == 2) {
    index = g.out(1);
  } else {
    Attrs attrs = g.attrs();
    attrs.set("index", true);
    index = plimsoll::apply(get_op("max_pool"), std::array{g.in(0)}, std::move(attrs))[1];
  }
  g.set(0, apply1(get_op("max_pool_grad"), {g.dout(), index}, grad_attrs(g.attrs(), g.in(0).shape())));
}

void grad_of_grad(GradContext& g) {
  if (g.wants(0)) g.set(0, apply1(get_op("max_pool_take"), {g.dout(), g.in(1)}, pool_attrs(g.attrs())));
}

void grad_of_take(GradContext& g) {
  if (!g.wants(0)) return;
  g.set(0, apply1(get_op("max_pool_grad"), {g.dout(), g.in(1)}, grad_attrs(g.attrs(), g.in(0).shape())));
}

Cost cost(const OpCall& call, std::span<const TensorType> out) {
  Cost c;
  for (const TensorType& t : call.in) c.bytes += static_cast<double>(byte_size(t.dtype, t.shape));
  for (const TensorType& t : out) c.bytes += static_cast<double>(byte_size(t.dtype, t.shape));
  c.flops = 2.0 * static_cast<double>(std::max(call.in[0].shape.elements(), out[0].shape.elements()));
  return c;
}

std::optional<RowSplit> rows(const RowQuery& q) { return leading_rows(q, "b", "b"); }
RowPart row_part_grad(const OpCall& whole, const RowSplit& split, int64_t, int64_t count) {
  return with_shape_attr("input_shape", whole, split, count);
}

std::vector<OpCase> cases() {
  std::vector<OpCase> list;
  for (const PoolCase& c : pool_cases()) {
    list.push_back({.in = {{c.x}}, .attrs = pool_attrs(c.options)});
    list.back().attrs.set("index", list.size() % 3 != 0);
  }
  return list;
}

// The indices of these cases must be points of the windows: 0 is one of each.
std::vector<OpCase> grad_cases() {
  std::vector<OpCase> list;
  for (const PoolCase& c : pool_cases()) {
    if (c.x.rank() != 4 || !c.options.pad_low.empty()) continue;
    const Attrs attrs = grad_attrs(pool_attrs(c.options), c.x);
    const Shape y = pool_output_shape(pool_geometry("max_pool_grad", c.x, attrs));
    const double last = static_cast<double>(c.options.window[0] * c.options.window[1] - 1);
    list.push_back({.in = {{y}, {y, 0, last, DType::u8}}, .attrs = attrs});
  }
  return list;
}

std::vector<OpCase> take_cases() {
  std::vector<OpCase> list;
  for (const OpCase& c : grad_cases()) {
    const Shape x(std::span<const int64_t>(c.attrs.ints("input_shape")));
    list.push_back({.in = {{x}, c.in[1]}, .attrs = pool_attrs(c.attrs)});
  }
  return list;
}

}  // namespace

Tensor max_pool(const Tensor& x, const PoolOptions& options) {
  return plimsoll::apply(get_op("max_pool"), std::array{x}, pool_attrs(options))[0];
}

std::span<const OpDef> ops_max_pool() {
  static constexpr KernelDef kernels[] = {
      {"highway", highway::pool_fits, highway::prepare_max_pool},
      {"reference", nullptr, reference::prepare_max_pool},
  };
  static constexpr KernelDef grad_kernels[] = {
      {"highway", highway::pool_fits, highway::prepare_max_pool_grad},
      {"reference", nullptr, reference::prepare_max_pool_grad},
  };
  static constexpr KernelDef take_kernels[] = {{"reference", nullptr, reference::prepare_max_pool_take}};
  static const OpDef defs[] = {
      {.name = "max_pool",
       .arity = {1, 1},
       .attrs = kMaxAttrs,
       .infer = infer,
       .grad = grad,
       .kernels = kernels,
       .cost = cost,
       .rows = rows,
       .cases = cases,
       .dtypes = kFloats},
      {.name = "max_pool_grad",
       .arity = {2, 2},
       .attrs = kGradAttrs,
       .infer = infer_grad,
       .grad = grad_of_grad,
       .kernels = grad_kernels,
       .cost = cost,
       .rows = rows,
       .row_part = row_part_grad,
       .cases = grad_cases,
       .dtypes = kFloats},
      {.name = "max_pool_take",
       .arity = {2, 2},
       .attrs = kPoolAttrs,
       .infer = infer_take,
       .grad = grad_of_take,
       .kernels = take_kernels,
       .cost = cost,
       .rows = rows,
       .cases = take_cases,
       .dtypes = kFloats},
  };
  return defs;
}

}  // namespace plimsoll
