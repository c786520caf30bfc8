// Adagrad, Adadelta, Adamax, Nadam, Ftrl and Lion: made of small ops, fused when they run.
#include <span>

#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"
#include "train/optimizers/optimizer_with.h"

namespace plimsoll {
namespace {

struct AdagradOptimizer final : OptimizerWith<AdagradOptimizerOptions> {
  AdagradOptimizer() : OptimizerWith("adagrad") {}
  std::string_view class_name() const override { return "Adagrad"; }
  void fields(Fields& f) override {
    OptimizerBase::fields(f);
    f("initial_accumulator_value", o.initial_accumulator_value);
    f("epsilon", o.epsilon);
  }
  std::vector<std::vector<SlotDef>> slots() const override {
    return {{{"accumulator", o.initial_accumulator_value}}};
  }
  Tensor update(UpdateScope& s) override {
    const Tensor sums = s.slot("accumulator") + square(s.gradient);
    s.set_slot("accumulator", sums);
    return s.weight - s.learning_rate * s.gradient / sqrt(sums + o.epsilon);
  }
};

struct AdadeltaOptimizer final : OptimizerWith<AdadeltaOptimizerOptions> {
  AdadeltaOptimizer() : OptimizerWith("adadelta") {}
  std::string_view class_name() const override { return "Adadelta"; }
  void fields(Fields& f) override {
    OptimizerBase::fields(f);
    f("rho", o.rho);
    f("epsilon", o.epsilon);
  }
  std::vector<std::vector<SlotDef>> slots() const override {
    return {{{"accumulated_grad"}, {"accumulated_delta_var"}}};
  }
  Tensor update(UpdateScope& s) override {
    const Tensor grads = o.rho * s.slot("accumulated_grad") + (1 - o.rho) * square(s.gradient);
    const Tensor deltas = s.slot("accumulated_delta_var");
    const Tensor delta = -(sqrt(deltas + o.epsilon) * s.gradient / sqrt(grads + o.epsilon));
    s.set_slot("accumulated_grad", grads);
    s.set_slot("accumulated_delta_var", o.rho * deltas + (1 - o.rho) * square(delta));
    return s.weight + s.learning_rate * delta;
  }
};

struct AdamaxOptimizer final : OptimizerWith<AdamaxOptimizerOptions> {
  AdamaxOptimizer() : OptimizerWith("adamax") {}
  std::string_view class_name() const override { return "Adamax"; }
  void fields(Fields& f) override {
    OptimizerBase::fields(f);
    beta_fields(f, o);
  }
  std::vector<std::vector<SlotDef>> slots() const override { return {{{"momentum"}, {"norm"}}}; }
  Tensor update(UpdateScope& s) override {
    const Tensor t = cast(s.step, s.weight.dtype()) + 1.0;
    const Tensor m = s.slot("momentum") + (s.gradient - s.slot("momentum")) * (1 - o.beta_1);
    const Tensor u = maximum(o.beta_2 * s.slot("norm"), absolute(s.gradient));
    s.set_slot("momentum", m);
    s.set_slot("norm", u);
    return s.weight - s.learning_rate * m / ((1.0 - power(scalar_like(t, o.beta_1), t)) * (u + o.epsilon));
  }
};

struct NadamOptimizer final : OptimizerWith<NadamOptimizerOptions> {
  NadamOptimizer() : OptimizerWith("nadam") {}
  std::string_view class_name() const override { return "Nadam"; }
  void fields(Fields& f) override {
    OptimizerBase::fields(f);
    beta_fields(f, o);
  }
  std::vector<std::vector<SlotDef>> slots() const override { return {{{"momentum"}, {"velocity"}}}; }
  std::vector<SlotDef> scalars() const override { return {{"u_product", 1}}; }
  Tensor update(UpdateScope& s) override {
    const Tensor t = cast(s.step, s.weight.dtype()) + 1.0;
    const auto share = [&](const Tensor& step) {
      return o.beta_1 * (1.0 - 0.5 * power(scalar_like(t, 0.96), step));
    };
    const Tensor u_now = share(t);
    const Tensor u_next = share(t + 1.0);
    const Tensor product = cast(s.scalar("u_product"), t.dtype()) * u_now;
    s.set_scalar("u_product", product);
    const Tensor m = s.slot("momentum") + (s.gradient - s.slot("momentum")) * (1 - o.beta_1);
    const Tensor v = s.slot("velocity") + (square(s.gradient) - s.slot("velocity")) * (1 - o.beta_2);
    s.set_slot("momentum", m);
    s.set_slot("velocity", v);
    const Tensor m_hat = u_next * m / (1.0 - product * u_next) + (1.0 - u_now) * s.gradient / (1.0 - product);
    const Tensor v_hat = v / (1.0 - power(scalar_like(t, o.beta_2), t));
    return s.weight - m_hat * s.learning_rate / (sqrt(v_hat) + o.epsilon);
  }
};

struct FtrlOptimizer final : OptimizerWith<FtrlOptimizerOptions> {
  FtrlOptimizer() : OptimizerWith("ftrl") {}
  std::string_view class_name() const override { return "Ftrl"; }
  void fields(Fields& f) override {
    OptimizerBase::fields(f);
    f("learning_rate_power", o.learning_rate_power);
    f("initial_accumulator_value", o.initial_accumulator_value);
    f("l1_regularization_strength", o.l1_regularization_strength);
    f("l2_regularization_strength", o.l2_regularization_strength);
    f("l2_shrinkage_regularization_strength", o.l2_shrinkage_regularization_strength);
    f("beta", o.beta);
  }
  std::vector<std::vector<SlotDef>> slots() const override {
    return {{{"accumulator", o.initial_accumulator_value}, {"linear"}}};
  }
  Tensor update(UpdateScope& s) override {
    const Tensor sums = s.slot("accumulator");
    const Tensor next = sums + square(s.gradient);
    const auto raised = [&](const Tensor& x) { return power(x, scalar_like(x, -o.learning_rate_power)); };
    const Tensor gradient = s.gradient + 2 * o.l2_shrinkage_regularization_strength * s.weight;
    const Tensor linear =
        s.slot("linear") + gradient - (raised(next) - raised(sums)) / s.learning_rate * s.weight;
    const Tensor l2 = o.l2_regularization_strength + o.beta / (2.0 * s.learning_rate);
    const Tensor quadratic = raised(next) / s.learning_rate + 2.0 * l2;
    s.set_slot("accumulator", next);
    s.set_slot("linear", linear);
    return (clip(linear, -o.l1_regularization_strength, o.l1_regularization_strength) - linear) / quadratic;
  }
};

struct LionOptimizer final : OptimizerWith<LionOptimizerOptions> {
  LionOptimizer() : OptimizerWith("lion") {}
  std::string_view class_name() const override { return "Lion"; }
  void fields(Fields& f) override {
    OptimizerBase::fields(f);
    f("beta_1", o.beta_1);
    f("beta_2", o.beta_2);
  }
  std::vector<std::vector<SlotDef>> slots() const override { return {{{"momentum"}}}; }
  Tensor update(UpdateScope& s) override {
    const Tensor m = s.slot("momentum");
    s.set_slot("momentum", m * o.beta_2 + s.gradient * (1 - o.beta_2));
    return s.weight - s.learning_rate * sign(m * o.beta_1 + s.gradient * (1 - o.beta_1));
  }
};

}  // namespace

Optimizer Adagrad(LearningRate rate, const AdagradOptimizerOptions& o) {
  return make_optimizer<AdagradOptimizer>(std::move(rate), o);
}
Optimizer Adadelta(LearningRate rate, const AdadeltaOptimizerOptions& o) {
  return make_optimizer<AdadeltaOptimizer>(std::move(rate), o);
}
Optimizer Adamax(LearningRate rate, const AdamaxOptimizerOptions& o) {
  return make_optimizer<AdamaxOptimizer>(std::move(rate), o);
}
Optimizer Nadam(LearningRate rate, const NadamOptimizerOptions& o) {
  return make_optimizer<NadamOptimizer>(std::move(rate), o);
}
Optimizer Ftrl(LearningRate rate, const FtrlOptimizerOptions& o) {
  require(o.initial_accumulator_value >= 0, "Ftrl", "expected initial_accumulator_value >= 0, got ",
          o.initial_accumulator_value);
  require(o.learning_rate_power <= 0, "Ftrl", "expected learning_rate_power <= 0, got ",
          o.learning_rate_power);
  require(o.l1_regularization_strength >= 0 && o.l2_regularization_strength >= 0 &&
              o.l2_shrinkage_regularization_strength >= 0,
          "Ftrl", "expected regularization strengths >= 0");
  return make_optimizer<FtrlOptimizer>(std::move(rate), o);
}
Optimizer Lion(LearningRate rate, const LionOptimizerOptions& o) {
  require(o.beta_1 > 0 && o.beta_1 <= 1, "Lion", "expected 0 < beta_1 <= 1, got ", o.beta_1);
  return make_optimizer<LionOptimizer>(std::move(rate), o);
}

std::span<const ClassDef> classes_adaptive() {
  static constexpr ClassDef rows[] = {
      {Family::optimizer, "Adagrad", "adagrad", make_default<AdagradOptimizer>},
      {Family::optimizer, "Adadelta", "adadelta", make_default<AdadeltaOptimizer>},
      {Family::optimizer, "Adamax", "adamax", make_default<AdamaxOptimizer>},
      {Family::optimizer, "Nadam", "nadam", make_default<NadamOptimizer>},
      {Family::optimizer, "Ftrl", "ftrl", make_default<FtrlOptimizer>},
      {Family::optimizer, "Lion", "lion", make_default<LionOptimizer>},
  };
  return rows;
}

}  // namespace plimsoll
