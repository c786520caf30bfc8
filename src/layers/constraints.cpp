// Constraints: what is done to a weight after each update.
#include <limits>
#include <span>

#include "plimsoll/initializers.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"

namespace plimsoll {
namespace {

constexpr double kEpsilon = 1e-7;  // Keras's backend.epsilon()

struct NormConstraint : ConstraintBase {
  explicit NormConstraint(Ints axes) : axis(std::move(axes)) {}
  Tensor norms(const Tensor& w) const { return sqrt(sum(square(w), axis, true)); }
  // Keras writes one axis as a number.
  void axis_field(Fields& f) {
    if (f.reading() || axis.size() != 1) return f("axis", axis);
    f("axis", axis[0]);
  }
  Ints axis;
};

struct MaxNormConstraint final : NormConstraint {
  explicit MaxNormConstraint(double most = 2, Ints axes = {0})
      : NormConstraint(std::move(axes)), max_value(most) {}
  std::string_view class_name() const override { return "MaxNorm"; }
  void fields(Fields& f) override {
    f("max_value", max_value);
    axis_field(f);
  }
  Tensor apply(const Tensor& w) override {
    const Tensor n = norms(w);
    return w * (clip(n, 0, max_value) / (n + kEpsilon));
  }
  double max_value;
};

struct MinMaxNormConstraint final : NormConstraint {
  explicit MinMaxNormConstraint(double least = 0, double most = 1, double rate = 1, Ints axes = {0})
      : NormConstraint(std::move(axes)), min_value(least), max_value(most), rate(rate) {}
  std::string_view class_name() const override { return "MinMaxNorm"; }
  void fields(Fields& f) override {
    f("min_value", min_value);
    f("max_value", max_value);
    f("rate", rate);
    axis_field(f);
  }
  Tensor apply(const Tensor& w) override {
    const Tensor n = norms(w);
    const Tensor desired = clip(n, min_value, max_value) * rate + n * (1 - rate);
    return w * (desired / (n + kEpsilon));
  }
  double min_value, max_value, rate;
};

struct UnitNormConstraint final : NormConstraint {
  explicit UnitNormConstraint(Ints axes = {0}) : NormConstraint(std::move(axes)) {}
  std::string_view class_name() const override { return "UnitNorm"; }
  void fields(Fields& f) override { axis_field(f); }
  Tensor apply(const Tensor& w) override { return w / (norms(w) + kEpsilon); }
};

struct NonNegConstraint final : ConstraintBase {
  std::string_view class_name() const override { return "NonNeg"; }
  Tensor apply(const Tensor& w) override { return maximum(w, scalar_like(w, 0)); }
};

}  // namespace

Constraint MaxNorm(double max_value, Ints axes) {
  return std::make_shared<MaxNormConstraint>(max_value, std::move(axes));
}
Constraint MinMaxNorm(double min_value, double max_value, double rate, Ints axes) {
  return std::make_shared<MinMaxNormConstraint>(min_value, max_value, rate, std::move(axes));
}
Constraint UnitNorm(Ints axes) { return std::make_shared<UnitNormConstraint>(std::move(axes)); }
Constraint NonNeg() { return std::make_shared<NonNegConstraint>(); }

std::span<const ClassDef> classes_constraints() {
  static constexpr ClassDef rows[] = {
      {Family::constraint, "MaxNorm", "max_norm", make_default<MaxNormConstraint>},
      {Family::constraint, "MinMaxNorm", "min_max_norm", make_default<MinMaxNormConstraint>},
      {Family::constraint, "UnitNorm", "unit_norm", make_default<UnitNormConstraint>},
      {Family::constraint, "NonNeg", "non_neg", make_default<NonNegConstraint>},
  };
  return rows;
}

}  // namespace plimsoll
