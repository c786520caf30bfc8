// How weights begin, what holds them small, and what holds them in bounds: Keras's initializers, regularizers
// and constraints, by name or as objects:  Dense(10, {.kernel_initializer = HeNormal({.seed = 1}),
// .kernel_regularizer = L2(1e-4)})
#pragma once

#include "plimsoll/config.h"
#include "plimsoll/tensor.h"

#pragma GCC visibility push(default)
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
struct NormalOptions {
  double mean = 0.0;
  double stddev = 0.05;
  std::optional<int64_t> seed = {};
};
struct UniformOptions {
  double minval = -0.05;
  double maxval = 0.05;
  std::optional<int64_t> seed = {};
};
struct VarianceScalingOptions {
  double scale = 1.0;
  std::string mode = "fan_in";                    // "fan_in", "fan_out", "fan_avg"
  std::string distribution = "truncated_normal";  // "uniform", "truncated_normal", "untruncated_normal"
  std::optional<int64_t> seed = {};
};
struct OrthogonalOptions {
  double gain = 1.0;
  std::optional<int64_t> seed = {};
};
Initializer Zeros();
Initializer Ones();
Initializer Constant(double value);
Initializer RandomNormal(const NormalOptions& options = {});
Initializer RandomUniform(const UniformOptions& options = {});
Initializer TruncatedNormal(const NormalOptions& options = {});
Initializer VarianceScaling(const VarianceScalingOptions& options = {});
Initializer GlorotUniform(const SeedOptions& options = {});
Initializer GlorotNormal(const SeedOptions& options = {});
Initializer HeUniform(const SeedOptions& options = {});
Initializer HeNormal(const SeedOptions& options = {});
Initializer LecunUniform(const SeedOptions& options = {});
Initializer LecunNormal(const SeedOptions& options = {});
Initializer Orthogonal(const OrthogonalOptions& options = {});
Initializer IdentityMatrix(double gain = 1.0);  // Keras's initializers.Identity; Identity is a layer

Regularizer L1(double l1 = 0.01);
Regularizer L2(double l2 = 0.01);
Regularizer L1L2(double l1 = 0.0, double l2 = 0.0);
Regularizer OrthogonalRegularizer(double factor = 0.01, std::string mode = "rows");

// Norms are taken along `axes`: for a Dense kernel axis 0, one norm per unit.
Constraint MaxNorm(double max_value = 2.0, Ints axes = {0});
Constraint MinMaxNorm(double min_value = 0.0, double max_value = 1.0, double rate = 1.0, Ints axes = {0});
Constraint UnitNorm(Ints axes = {0});
Constraint NonNeg();

}  // namespace plimsoll
#pragma GCC visibility pop
