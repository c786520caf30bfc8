// How weights begin, what holds them small, and what holds them in bounds: Keras's initializers, regularizers and
// constraints, by name or as objects:  Dense(10, {.kernel_initializer = HeNormal({.seed = 1}), .kernel_regularizer = L2(1e-4)})
#pragma once

#include "plimsoll/config.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

class InitializerBase : public Configurable {
 public:
  static constexpr Family kFamily = Family::initializer;
  virtual Tensor make(const Shape& shape, DType dtype) = 0;  // concrete
};
using Initializer = Ref<InitializerBase>;

class RegularizerBase : public Configurable {
 public:
  static constexpr Family kFamily = Family::regularizer;
  virtual Tensor loss(const Tensor& weight) = 0;  // a scalar
};
using Regularizer = Ref<RegularizerBase>;

class ConstraintBase : public Configurable {
 public:
  static constexpr Family kFamily = Family::constraint;
  virtual Tensor apply(const Tensor& weight) = 0;
};
using Constraint = Ref<ConstraintBase>;

struct SeedOptions {
  std::optional<int64_t> seed = {};
};
Initializer Zeros();
Initializer Ones();
Initializer Constant(double value);
Initializer GlorotUniform(const SeedOptions& options = {});

}  // namespace plimsoll
