// conv_bias(x, kernel, bias [, scale] [, residual]) = act(conv(x, kernel) * scale + bias + residual), in one
// pass over the result. bias and scale are per filter, the residual has the shape of the result; scale and
// bias are where an inference-time batch normalisation goes.
#include <cmath>

#include "device/cpu/conv_kernels.h"
#include "graph/grad.h"
#include "graph/rows.h"
#include "ops/activate.h"
#include "ops/conv.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"

namespace plimsoll {
namespace {

constexpr auto kAttrs = with_conv_attrs(std::array<AttrDef, 3>{{
    {"activation", AttrKind::string, "\"linear\""},
    {"scale", AttrKind::boolean, "false"},
    {"residual", AttrKind::boolean, "false"},
}});

std::vector<TensorType> infer(const OpCall& call) {
  const ConvEpilogue e = conv_epilogue(call.attrs);
  const int inputs = 3 + (e.scale >= 0) + (e.residual >= 0);
  require(std::ssize(call.in) == inputs, "conv_bias", "expected ", inputs, " inputs, got ", call.in.size());
  for (const TensorType& t : call.in) require_one_float("conv_bias", call.in[0].dtype, t.dtype);
  const ConvGeometry g = conv_geometry("conv_bias", call.in[0].shape, call.in[1].shape, call.attrs);
  const auto expect = [&](int i, const Shape& shape, std::string_view what) {
    if (i < 0) return;
    const Shape& got = call.in[static_cast<size_t>(i)].shape;
    require(got == shape, "conv_bias", "expected a ", what, " of shape ", shape, ", got ", got);
  };
  expect(e.bias, Shape{g.filters}, "bias");
  expect(e.scale, Shape{g.filters}, "scale");
  expect(e.residual, conv_output_shape(g), "residual");
  return {{call.in[0].dtype, conv_output_shape(g)}};
}

Tensor below_activation(GradContext& g, Activation activation) {
  return through_activation(activation, g.out(), g.dout(), [&] {
    std::vector<Tensor> in;
    for (int i = 0; i < g.inputs(); ++i) in.push_back(g.in(i));
    Attrs attrs = g.attrs();
    attrs.set("activation", std::string("linear"));
    return plimsoll::apply(get_op("conv_bias"), in, attrs)[0];
  });
}

Ints all_but_last(const Tensor& t) {
  Ints axes;
  for (int a = 0; a + 1 < t.rank(); ++a) axes.push_back(a);
  return axes;
}

void grad(GradContext& g) {
  const ConvEpilogue e = conv_epilogue(g.attrs());
  const Attrs attrs = conv_attrs(g.attrs());
  const Tensor dz = below_activation(g, e.activation);
  if (e.residual >= 0 && g.wants(e.residual)) g.set(e.residual, dz);
  Tensor dconv = dz;
  if (e.scale >= 0) {
    const Tensor& scale = g.in(e.scale);
    dconv = dz * scale;
    if (g.wants(e.scale)) {
      g.set(e.scale, sum(dz * apply1(get_op("conv"), {g.in(0), g.in(1)}, attrs), all_but_last(dz)));
    }
  }
  if (g.wants(0)) g.set(0, conv_grad_input(dconv, g.in(1), g.in(0).shape(), attrs));
  // The kernel's gradient brings the bias' along, unless a scale stands between them.
  const bool together = e.scale < 0 && g.wants(1) && g.wants(e.bias);
  if (g.wants(1)) {
    const std::vector<Tensor> d = conv_grad_filter(g.in(0), dconv, g.in(1).shape(), together, attrs);
    g.set(1, d[0]);
    if (together) g.set(e.bias, d[1]);
  }
  if (g.wants(e.bias) && !together) g.set(e.bias, sum(dz, all_but_last(dz)));
}

std::vector<Tensor> decompose(std::span<const Tensor> in, const Attrs& attrs) {
  const ConvEpilogue e = conv_epilogue(attrs);
  const auto input = [&](int i) { return in[static_cast<size_t>(i)]; };
  Tensor y = apply1(get_op("conv"), {in[0], in[1]}, conv_attrs(attrs));
  if (e.scale >= 0) y = y * input(e.scale);
  y = y + input(e.bias);
  if (e.residual >= 0) y = y + input(e.residual);
  return {activate(y, e.activation)};
}

Cost cost(const OpCall& call, std::span<const TensorType> out) {
  const ConvGeometry g = conv_geometry("conv_bias", call.in[0].shape, call.in[1].shape, call.attrs);
  return conv_cost(g, out[0].dtype);
}

// The result may start from the residual's bytes.
uint64_t in_place(const OpCall& call, int) {
  const ConvEpilogue e = conv_epilogue(call.attrs);
  return e.residual < 0 ? 0 : uint64_t{1} << e.residual;
}

std::optional<RowSplit> rows(const RowQuery& q) {
  std::string in(q.call.in.size(), '-');
  in[0] = 'b';
  if (const ConvEpilogue e = conv_epilogue(q.call.attrs); e.residual >= 0)
    in[static_cast<size_t>(e.residual)] = 'b';
  return leading_rows(q, in, "b");
}

std::vector<OpCase> cases() {
  static constexpr std::array<std::string_view, 7> kActivations = {"relu", "linear",    "sigmoid", "tanh",
                                                                   "gelu", "gelu_tanh", "silu"};
  std::vector<OpCase> list;
  size_t i = 0;
  for (const ConvCase& c : conv_cases()) {
    Attrs attrs = conv_attrs(c.options, c.x.rank() - 2);
    const Shape y = conv_output_shape(conv_geometry("conv_bias", c.x, c.kernel, attrs));
    const Shape filters{y.dim(-1)};
    attrs.set("activation", std::string(kActivations[i % kActivations.size()]));
    attrs.set("scale", i % 3 == 1);
    attrs.set("residual", i % 4 >= 2);
    std::vector<InputCase> in{{c.x}, {c.kernel}, {filters}};
    if (i % 3 == 1) in.push_back({filters});
    if (i % 4 >= 2) in.push_back({y});
    list.push_back({.in = in, .attrs = attrs});
    ++i;
  }
  return list;
}

}  // namespace

Tensor conv_bias(const Tensor& x, const Tensor& kernel, const Tensor& bias, const ConvOptions& options,
                 std::string_view activation) {
  const std::optional<Activation> act = activation_from_name(activation);
  require(act.has_value(), "conv_bias", "expected one of the activations that dense() takes, got \"",
          activation, "\"");
  const DType type = promote(promote(x.dtype(), kernel.dtype()), bias.dtype());
  Attrs attrs = conv_attrs(options, x.rank() - 2);
  // Where the gradient needs the value before the activation, that value is kept: the activation stands
  // apart.
  const bool inside = known_from_result(*act);
  attrs.set("activation", std::string(inside ? activation : "linear"));
  const Tensor y =
      apply1(get_op("conv_bias"), {cast(x, type), cast(kernel, type), cast(bias, type)}, std::move(attrs));
  return inside ? y : activate(y, *act);
}

std::span<const OpDef> ops_conv_bias() {
  static constexpr KernelDef kernels[] = {
      {"winograd", winograd::conv_leads, winograd::prepare_conv_bias},
      {"onednn", onednn::conv_fits, onednn::prepare_conv_bias},
      {"highway", nullptr, highway::prepare_conv_bias},
  };
  static const OpDef defs[] = {{
      .name = "conv_bias",
      .arity = {3, 5},
      .attrs = kAttrs,
      .infer = infer,
      .grad = grad,
      .decompose = decompose,
      .kernels = kernels,
      .cost = cost,
      .in_place = in_place,
      .rows = rows,
      .cases = cases,
      .dtypes = kFloats,
      .tolerance = kConvTolerance,
  }};
  return defs;
}

}  // namespace plimsoll
