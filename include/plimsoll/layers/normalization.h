// Layers that hold mean and variance of what passes.
#pragma once

#include "plimsoll/layer.h"

#pragma GCC visibility push(default)
namespace plimsoll {

// With trainable off it uses the moving statistics in training too, and leaves them alone.
struct BatchNormalizationOptions {
  int64_t axis = -1;
  double momentum = 0.99;
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  Initializer beta_initializer = "zeros";
  Initializer gamma_initializer = "ones";
  Initializer moving_mean_initializer = "zeros";
  Initializer moving_variance_initializer = "ones";
  Regularizer beta_regularizer = {};
  Regularizer gamma_regularizer = {};
  Constraint beta_constraint = {};
  Constraint gamma_constraint = {};
  std::string name = {};
  PolicyName dtype = {};
};
Layer BatchNormalization(const BatchNormalizationOptions& options = {});

struct LayerNormalizationOptions {
  Ints axis = {-1};
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  Initializer beta_initializer = "zeros";
  Initializer gamma_initializer = "ones";
  Regularizer beta_regularizer = {};
  Regularizer gamma_regularizer = {};
  Constraint beta_constraint = {};
  Constraint gamma_constraint = {};
  std::string name = {};
  PolicyName dtype = {};
};
Layer LayerNormalization(const LayerNormalizationOptions& options = {});

struct GroupNormalizationOptions {
  int64_t groups = 32;  // -1: one per channel
  int64_t axis = -1;
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  Initializer beta_initializer = "zeros";
  Initializer gamma_initializer = "ones";
  Regularizer beta_regularizer = {};
  Regularizer gamma_regularizer = {};
  Constraint beta_constraint = {};
  Constraint gamma_constraint = {};
  std::string name = {};
  PolicyName dtype = {};
};
Layer GroupNormalization(const GroupNormalizationOptions& options = {});

// x divided by its Euclidean norm along the axes.
struct UnitNormalizationOptions {
  Ints axis = {-1};
  std::string name = {};
  PolicyName dtype = {};
};
Layer UnitNormalization(const UnitNormalizationOptions& options = {});

struct RMSNormalizationOptions {
  Ints axis = {-1};  // the last ones
  double epsilon = 1e-6;
  std::string name = {};
  PolicyName dtype = {};
};
Layer RMSNormalization(const RMSNormalizationOptions& options = {});

// In training the kernel of `layer` (its embeddings, where it has those) is divided by its largest singular
// value.
struct SpectralNormalizationOptions {
  int64_t power_iterations = 1;
  std::string name = {};
  PolicyName dtype = {};
};
Layer SpectralNormalization(const Layer& layer, const SpectralNormalizationOptions& options = {});

}  // namespace plimsoll
#pragma GCC visibility pop
