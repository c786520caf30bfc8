// conv_grad_filter(x, dy): the gradient of conv(x, kernel) by a kernel of shape `kernel_shape`; with `bias`
// also the sums of dy over all axes but the last, which the kernels get almost for nothing. Linear in both
// operands.
#include "device/cpu/conv_kernels.h"
#include "graph/grad.h"
#include "graph/rows.h"
#include "ops/conv.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

constexpr auto kAttrs = with_conv_attrs(std::array<AttrDef, 2>{{
    {"kernel_shape", AttrKind::ints},
    {"bias", AttrKind::boolean, "false"},
}});

std::vector<TensorType> infer(const OpCall& call) {
  require_one_float("conv_grad_filter", call.in[0].dtype, call.in[1].dtype);
  const Shape kernel(std::span<const int64_t>(call.attrs.ints("kernel_shape")));
  const ConvGeometry g = conv_geometry("conv_grad_filter", call.in[0].shape, kernel, call.attrs);
  require(conv_output_shape(g) == call.in[1].shape, "conv_grad_filter", "expected dy of shape ",
          conv_output_shape(g), ", got ", call.in[1].shape);
  std::vector<TensorType> out{{call.in[0].dtype, kernel}};
  if (call.attrs.flag("bias")) out.push_back({call.in[0].dtype, Shape{g.filters}});
  return out;
}

void grad(GradContext& g) {
  const Attrs attrs = conv_attrs(g.attrs());
  if (g.wants(0) && g.has_dout(0)) g.set(0, conv_grad_input(g.in(1), g.dout(0), g.in(0).shape(), attrs));
  if (!g.wants(1)) return;
  Tensor d;
  if (g.has_dout(0)) d = apply1(get_op("conv"), {g.in(0), g.dout(0)}, attrs);
  if (g.outputs() == 2 && g.has_dout(1)) {
    const Tensor spread = broadcast_to(g.dout(1), g.in(1).shape());
    d = d.defined() ? add(d, spread) : spread;
  }
  if (d.defined()) g.set(1, d);
}

Cost cost(const OpCall& call, std::span<const TensorType> out) {
  return conv_cost(conv_geometry("conv_grad_filter", call.in[0].shape, out[0].shape, call.attrs),
                   out[0].dtype);
}

std::optional<RowSplit> rows(const RowQuery& q) { return leading_rows(q, "b", "+"); }

std::vector<OpCase> cases() {
  std::vector<OpCase> list;
  bool bias = false;
  for (const ConvCase& c : conv_cases()) {
    Attrs attrs = conv_attrs(c.options, c.x.rank() - 2);
    const Shape y = conv_output_shape(conv_geometry("conv_grad_filter", c.x, c.kernel, attrs));
    attrs.set("kernel_shape", Ints(c.kernel.begin(), c.kernel.end()));
    attrs.set("bias", bias);
    bias = !bias;
    list.push_back({.in = {{c.x}, {y}}, .attrs = attrs});
  }
  return list;
}

}  // namespace

std::vector<Tensor> conv_grad_filter(const Tensor& x, const Tensor& dy, const Shape& kernel, bool bias,
                                     const Attrs& attrs) {
  Attrs mine = attrs;
  mine.set("kernel_shape", Ints(kernel.begin(), kernel.end()));
  mine.set("bias", bias);
  const std::array<Tensor, 2> in{x, dy};
  return plimsoll::apply(get_op("conv_grad_filter"), in, std::move(mine));
}

std::span<const OpDef> ops_conv_grad_filter() {
  static constexpr KernelDef kernels[] = {
      {"winograd", winograd::conv_grad_filter_leads, winograd::prepare_conv_grad_filter},
      {"highway", highway::conv_grad_filter_leads, highway::prepare_conv_grad_filter},
      {"pointwise", pointwise::conv_grad_filter_leads, pointwise::prepare_conv_grad_filter},
      {"onednn", onednn::conv_fits, onednn::prepare_conv_grad_filter},
      {"highway", nullptr, highway::prepare_conv_grad_filter},
      {"reference", nullptr, reference::prepare_conv_grad_filter},
  };
  static const OpDef defs[] = {{
      .name = "conv_grad_filter",
      .arity = {2, 2},
      .attrs = kAttrs,
      .infer = infer,
      .grad = grad,
      .kernels = kernels,
      .cost = cost,
      .rows = rows,
      .cases = cases,
      .dtypes = kFloats,
      .tolerance = kConvTolerance,
  }};
  return defs;
}

}  // namespace plimsoll
