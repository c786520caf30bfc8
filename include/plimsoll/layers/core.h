// Input, Dense, Flatten.
#pragma once

#include "plimsoll/layer.h"

namespace plimsoll {

struct InputOptions {
  std::string name = {};
  DType dtype = DType::f32;
  std::optional<int64_t> batch_size = {};
};
// The shape is without the batch; -1 where Keras has None.
Symbol Input(const SymbolShape& shape, const InputOptions& options = {});

struct DenseOptions {
  std::string activation = "linear";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};
  Constraint kernel_constraint = {};
  Constraint bias_constraint = {};
  std::string name = {};
};
Layer Dense(int64_t units, const DenseOptions& options = {});

struct NameOptions {
  std::string name = {};
};
Layer Flatten(const NameOptions& options = {});

}  // namespace plimsoll
