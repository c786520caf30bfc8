// Activations made of other ops. They are no ops of their own: passes fuse or match what they build.
#include "ops/activate.h"
#include "ops/elementwise.h"
#include "plimsoll/error.h"

namespace plimsoll {

std::span<const OpDef> ops_activations() { return {}; }

Tensor silu(const Tensor& input) {
  const Tensor x = to_float(input);
  return x * sigmoid(x);
}

// max(x, 0) + log(1 + e^-|x|): no overflow for large x, no loss for small ones.
Tensor softplus(const Tensor& input) {
  const Tensor x = to_float(input);
  return relu(x) + log1p(exp(-absolute(x)));
}

Tensor elu(const Tensor& input, double alpha) {
  const Tensor x = to_float(input);
  const Tensor zero = scalar_like(x, 0);
  // The branch not taken must not overflow: its gradient would be NaN.
  return where(greater(x, zero), x, expm1(minimum(x, zero)) * alpha);
}

Tensor selu(const Tensor& input) { return elu(input, 1.6732632423543772848) * 1.0507009873554804934; }

Tensor leaky_relu(const Tensor& input, double negative_slope) {
  const Tensor x = to_float(input);
  return where(greater(x, scalar_like(x, 0)), x, x * negative_slope);
}

Tensor relu6(const Tensor& x) { return clip(x, 0, 6); }
Tensor hard_sigmoid(const Tensor& input) {
  const Tensor x = to_float(input);
  return clip(x + 3.0, 0, 6) / 6.0;
}
Tensor hard_silu(const Tensor& input) {
  const Tensor x = to_float(input);
  return x * hard_sigmoid(x);
}

Tensor activate(const Tensor& z, Activation activation) {
  switch (activation) {
    case Activation::linear: return z;
    case Activation::relu: return relu(z);
    case Activation::sigmoid: return sigmoid(z);
    case Activation::tanh: return tanh(z);
    case Activation::gelu: return gelu(z, false);
    case Activation::gelu_tanh: return gelu(z, true);
    case Activation::silu: return silu(z);
  }
  fail(ErrorKind::internal, "activation", "unknown");
}

Tensor through_activation(Activation activation, const Tensor& y, const Tensor& dy,
                          const std::function<Tensor()>& z) {
  switch (activation) {
    case Activation::linear: return dy;
    case Activation::relu: return where(greater(y, scalar_like(y, 0)), dy, scalar_like(dy, 0));
    case Activation::sigmoid: return dy * (y * (1.0 - y));
    case Activation::tanh: return dy * (1.0 - square(y));
    case Activation::gelu:
    case Activation::gelu_tanh:
      return apply1(get_op("gelu_grad"), {z(), dy}, {{"approximate", activation == Activation::gelu_tanh}});
    case Activation::silu: break;
  }
  const Tensor x = z(), s = sigmoid(x);
  return dy * (s * (x * (1.0 - s) + 1.0));
}

}  // namespace plimsoll
