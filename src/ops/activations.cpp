// Activations made of other ops. They are no ops of their own: passes fuse or match what they build.
#include "ops/elementwise.h"

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

}  // namespace plimsoll
