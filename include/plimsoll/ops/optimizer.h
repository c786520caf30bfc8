// Fused optimizer updates: one pass over a weight and its slots. Scalars that change from step to step are
// tensors of shape () so that a program serves all steps. Each returns the new weight, then the new slots, as
// Keras 3 computes them.
#pragma once

#include <vector>

#include "plimsoll/tensor.h"

#pragma GCC visibility push(default)
namespace plimsoll {

// (optional) The gradient is divided by `scale`, a float scalar; unless `applies`, a bool scalar, is true,
// the weight and slots come back as they were. Both or neither.
struct UpdateGuard {
  Tensor scale, applies;
};

// step: int64 scalar, 0 in the first step.
struct AdamOptions {
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  double weight_decay = 0.0;
};
std::vector<Tensor> adam_update(const Tensor& w, const Tensor& grad, const Tensor& m, const Tensor& v,
                                const Tensor& learning_rate, const Tensor& step,
                                const AdamOptions& options = {}, const UpdateGuard& guard = {});
// momentum 0: the slot may be undefined, and only the weight comes back.
std::vector<Tensor> sgd_update(const Tensor& w, const Tensor& grad, const Tensor& velocity,
                               const Tensor& learning_rate, double momentum = 0.0, bool nesterov = false,
                               const UpdateGuard& guard = {});
struct RmspropOptions {
  double rho = 0.9;
  double momentum = 0.0;
  double epsilon = 1e-7;
};
std::vector<Tensor> rmsprop_update(const Tensor& w, const Tensor& grad, const Tensor& velocity,
                                   const Tensor& momentum, const Tensor& learning_rate,
                                   const RmspropOptions& options = {}, const UpdateGuard& guard = {});

}  // namespace plimsoll
#pragma GCC visibility pop
