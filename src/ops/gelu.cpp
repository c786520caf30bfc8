// gelu(x): x Phi(x), Phi the distribution function of the normal distribution, or its approximation by tanh;
// and gelu_grad(x, dy): dy times the derivative at x. Ops of their own so that a training step keeps x alone
// between the two: written in erf and exp, the backward pass would have three more tensors to read that the
// forward pass had to write.
#include <numbers>

#include "device/cpu/activation.h"
#include "ops/elementwise.h"

namespace plimsoll {
namespace {

constexpr double kScale = 0.79788456080286536, kCubic = 0.044715;  // sqrt(2 / pi); of the approximation

Activation kind_of(const Attrs& attrs) {
  return attrs.flag("approximate") ? Activation::gelu_tanh : Activation::gelu;
}

std::vector<TensorType> infer(const OpCall& call) {
  require_dtype(call, 0, kFloats);
  return {call.in[0]};
}
std::vector<TensorType> infer_grad(const OpCall& call) {
  const TensorType &x = call.in[0], &dy = call.in[1];
  require_dtype(call, 0, kFloats);
  require(dy.dtype == x.dtype, call.op.name, "expected dy of ", x.dtype, ", got ", dy);
  return {{x.dtype, broadcast(x.shape, dy.shape, call.op.name)}};
}

Tensor bent(const Tensor& x) { return tanh((x + x * square(x) * kCubic) * kScale); }

std::vector<Tensor> decompose(std::span<const Tensor> in, const Attrs& attrs) {
  const Tensor& x = in[0];
  const Tensor s = attrs.flag("approximate") ? bent(x) : erf(x * (1 / std::numbers::sqrt2));
  return {x * 0.5 * (s + 1.0)};
}

Tensor slope(const Tensor& x, bool approximate) {
  if (!approximate) {
    constexpr double kDensity = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
    return (erf(x * (1 / std::numbers::sqrt2)) + 1.0) * 0.5 + x * exp(square(x) * -0.5) * kDensity;
  }
  const Tensor t = bent(x);
  return (t + 1.0) * 0.5 + x * (1.0 - square(t)) * (square(x) * (3 * kCubic) + 1.0) * (0.5 * kScale);
}

std::vector<Tensor> decompose_grad(std::span<const Tensor> in, const Attrs& attrs) {
  return {in[1] * slope(in[0], attrs.flag("approximate"))};
}

void grad(GradContext& g) { g.set(0, apply1(get_op("gelu_grad"), {g.in(0), g.dout()}, g.attrs())); }

Tile tile(std::span<const TensorType> in, const TensorType&, const Attrs& attrs) {
  return {activation_kernel(kind_of(attrs), in[0].dtype),
          {},
          attrs.flag("approximate")
              ? "t = tanh((a + a * (a * a) * 0.044715) * 0.79788456080286536); a * 0.5 * (t + 1)"
              : "a * 0.5 * (erf(a * 0.70710678118654752) + 1)"};
}
Tile tile_grad(std::span<const TensorType> in, const TensorType&, const Attrs& attrs) {
  return {
      gelu_gradient_kernel(kind_of(attrs), in[0].dtype),
      {},
      attrs.flag("approximate")
          ? "t = tanh((a + a * (a * a) * 0.044715) * 0.79788456080286536); "
            "b * ((t + 1) * 0.5 + a * (1 - t * t) * (a * a * 0.134145 + 1) * 0.39894228040143268)"
          : "b * ((erf(a * 0.70710678118654752) + 1) * 0.5 + a * exp(a * a * -0.5) * 0.39894228040143268)"};
}

// From where no result is the small difference of larger numbers; activation_test.cpp has the whole range.
template <int kInputs>
std::vector<OpCase> cases() {
  std::vector<OpCase> list;
  for (const Shape& shape : odd_shapes()) {
    for (const bool approximate : {false, true}) {
      list.push_back({std::vector<InputCase>(kInputs, {shape, -0.4, 4}), {{"approximate", approximate}}});
    }
  }
  if (kInputs == 2) list.push_back({{{Shape{3, 1}, -0.4, 4}, {Shape{5}}}, {{"approximate", false}}});
  return list;
}

constexpr AttrDef kAttrs[] = {{"approximate", AttrKind::boolean, "false"}};
constexpr OpDef kDefs[] = {
    {.name = "gelu",
     .attrs = kAttrs,
     .infer = infer,
     .grad = grad,
     .decompose = decompose,
     .tile = tile,
     .cases = cases<1>,
     .dtypes = kFloats},
    {.name = "gelu_grad",
     .arity = {2, 2},
     .attrs = kAttrs,
     .infer = infer_grad,
     .decompose = decompose_grad,
     .tile = tile_grad,
     .cases = cases<2>,
     .dtypes = kFloats},
};

}  // namespace

std::span<const OpDef> ops_gelu() { return kDefs; }

Tensor gelu(const Tensor& x, bool approximate) {
  return apply1(get_op("gelu"), {to_float(x)}, {{"approximate", approximate}});
}

}  // namespace plimsoll
