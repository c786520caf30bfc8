// conv_grad_input(dy, kernel): the gradient of conv(x, kernel) by x, for an x of shape `input_shape`. Linear
// in both operands, so its own gradients are convolutions again.
#include "device/cpu/conv_kernels.h"
#include "graph/grad.h"
#include "graph/rows.h"
#include "ops/conv.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

constexpr auto kAttrs = with_conv_attrs(std::array<AttrDef, 1>{{{"input_shape", AttrKind::ints}}});

std::vector<TensorType> infer(const OpCall& call) {
  require_one_float("conv_grad_input", call.in[0].dtype, call.in[1].dtype);
  const Shape x(std::span<const int64_t>(call.attrs.ints("input_shape")));
  const ConvGeometry g = conv_geometry("conv_grad_input", x, call.in[1].shape, call.attrs);
  require(conv_output_shape(g) == call.in[0].shape, "conv_grad_input", "expected dy of shape ",
          conv_output_shape(g), ", got ", call.in[0].shape);
  return {{call.in[0].dtype, x}};
}

void grad(GradContext& g) {
  const Attrs attrs = conv_attrs(g.attrs());
  if (g.wants(0)) g.set(0, apply1(get_op("conv"), {g.dout(), g.in(1)}, attrs));
  if (g.wants(1)) g.set(1, conv_grad_filter(g.dout(), g.in(0), g.in(1).shape(), false, attrs)[0]);
}

Cost cost(const OpCall& call, std::span<const TensorType> out) {
  return conv_cost(conv_geometry("conv_grad_input", out[0].shape, call.in[1].shape, call.attrs),
                   out[0].dtype);
}

std::optional<RowSplit> rows(const RowQuery& q) { return leading_rows(q, "b-", "b"); }
RowPart row_part(const OpCall& whole, const RowSplit& split, int64_t, int64_t count) {
  return with_shape_attr("input_shape", whole, split, count);
}

std::vector<OpCase> cases() {
  std::vector<OpCase> list;
  for (const ConvCase& c : conv_cases()) {
    Attrs attrs = conv_attrs(c.options, c.x.rank() - 2);
    const Shape y = conv_output_shape(conv_geometry("conv_grad_input", c.x, c.kernel, attrs));
    attrs.set("input_shape", Ints(c.x.begin(), c.x.end()));
    list.push_back({.in = {{y}, {c.kernel}}, .attrs = attrs});
  }
  return list;
}

}  // namespace

Tensor conv_grad_input(const Tensor& dy, const Tensor& kernel, const Shape& x, const Attrs& attrs) {
  Attrs mine = attrs;
  mine.set("input_shape", Ints(x.begin(), x.end()));
  return apply1(get_op("conv_grad_input"), {dy, kernel}, std::move(mine));
}

std::span<const OpDef> ops_conv_grad_input() {
  static constexpr KernelDef kernels[] = {
      {"winograd", winograd::conv_grad_input_leads, winograd::prepare_conv_grad_input},
      {"pointwise", pointwise::conv_grad_input_leads, pointwise::prepare_conv_grad_input},
      {"onednn", onednn::conv_fits, onednn::prepare_conv_grad_input},
      {"highway", nullptr, highway::prepare_conv_grad_input},
      {"reference", nullptr, reference::prepare_conv_grad_input},
  };
  static const OpDef defs[] = {{
      .name = "conv_grad_input",
      .arity = {2, 2},
      .attrs = kAttrs,
      .infer = infer,
      .grad = grad,
      .kernels = kernels,
      .cost = cost,
      .rows = rows,
      .row_part = row_part,
      .cases = cases,
      .dtypes = kFloats,
      .tolerance = kConvTolerance,
  }};
  return defs;
}

}  // namespace plimsoll
