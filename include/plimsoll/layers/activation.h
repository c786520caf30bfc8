// Activations as layers.
#pragma once

#include "plimsoll/layers/core.h"

#pragma GCC visibility push(default)
namespace plimsoll {

Layer Activation(std::string activation, const NameOptions& options = {});

struct ReLUOptions {
  std::optional<double> max_value = {};
  double negative_slope = 0.0;
  double threshold = 0.0;
  std::string name = {};
  PolicyName dtype = {};
};
Layer ReLU(const ReLUOptions& options = {});
Layer LeakyReLU(double negative_slope = 0.3, const NameOptions& options = {});
Layer ELU(double alpha = 1.0, const NameOptions& options = {});

struct PReLUOptions {
  Initializer alpha_initializer = "zeros";
  Regularizer alpha_regularizer = {};
  Constraint alpha_constraint = {};
  Ints shared_axes = {};
  std::string name = {};
  PolicyName dtype = {};
};
Layer PReLU(const PReLUOptions& options = {});

// Several axes: over all of them together. A mask leaves elements out.
Layer Softmax(Ints axis = {-1}, const NameOptions& options = {});

}  // namespace plimsoll
#pragma GCC visibility pop
