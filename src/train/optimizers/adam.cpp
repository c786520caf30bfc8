// Adam and AdamW.
#include <span>

#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/optimizer.h"
#include "train/optimizers/optimizer_with.h"

namespace plimsoll {
namespace {

template <class Options>
struct AdamFamily : OptimizerWith<Options> {
  explicit AdamFamily(std::string_view default_name) : OptimizerWith<Options>(default_name) {
    this->weight_decay = this->o.weight_decay;
  }
  void fields(Fields& f) override {
    OptimizerBase::fields(f);
    f("beta_1", this->o.beta_1);
    f("beta_2", this->o.beta_2);
    f("epsilon", this->o.epsilon);
    f("amsgrad", this->o.amsgrad);
  }
  std::vector<std::vector<SlotDef>> slots() const override {
    std::vector<std::vector<SlotDef>> groups = {{{"momentum"}, {"velocity"}}};
    if (this->o.amsgrad) groups.push_back({{"velocity_hat"}});
    return groups;
  }
  bool decays() const override { return !this->o.amsgrad; }
  bool guards() const override { return !this->o.amsgrad; }
  Tensor update(UpdateScope& s) override {
    if (this->o.amsgrad) return update_amsgrad(s);
    const std::vector<Tensor> next =
        adam_update(s.weight, s.gradient, s.slot("momentum"), s.slot("velocity"), s.learning_rate, s.step,
                    {this->o.beta_1, this->o.beta_2, this->o.epsilon, s.weight_decay}, s.guard);
    s.set_slot("momentum", next[1]);
    s.set_slot("velocity", next[2]);
    return next[0];
  }

 private:
  Tensor update_amsgrad(UpdateScope& s) const {
    const auto& o = this->o;
    const Tensor t = cast(s.step, s.weight.dtype()) + 1.0;
    const Tensor left_1 = 1.0 - power(scalar_like(t, o.beta_1), t);
    const Tensor left_2 = 1.0 - power(scalar_like(t, o.beta_2), t);
    const Tensor m = s.slot("momentum") + (s.gradient - s.slot("momentum")) * (1 - o.beta_1);
    const Tensor v = s.slot("velocity") + (square(s.gradient) - s.slot("velocity")) * (1 - o.beta_2);
    const Tensor largest = maximum(s.slot("velocity_hat"), v);
    s.set_slot("momentum", m);
    s.set_slot("velocity", v);
    s.set_slot("velocity_hat", largest);
    return s.weight - m * (s.learning_rate * sqrt(left_2) / left_1) / (sqrt(largest) + o.epsilon);
  }
};

struct AdamOptimizer final : AdamFamily<AdamOptimizerOptions> {
  AdamOptimizer() : AdamFamily("adam") {}
  std::string_view class_name() const override { return "Adam"; }
};
struct AdamWOptimizer final : AdamFamily<AdamWOptimizerOptions> {
  AdamWOptimizer() : AdamFamily("adamw") {}
  std::string_view class_name() const override { return "AdamW"; }
};

}  // namespace

Optimizer Adam(LearningRate learning_rate, const AdamOptimizerOptions& options) {
  return make_optimizer<AdamOptimizer>(std::move(learning_rate), options);
}
Optimizer AdamW(LearningRate learning_rate, const AdamWOptimizerOptions& options) {
  require(options.weight_decay.has_value(), "AdamW", "expected a weight_decay, got none");
  return make_optimizer<AdamWOptimizer>(std::move(learning_rate), options);
}

std::span<const ClassDef> classes_adam() {
  static constexpr ClassDef rows[] = {{Family::optimizer, "Adam", "adam", make_default<AdamOptimizer>},
                                      {Family::optimizer, "AdamW", "adamw", make_default<AdamWOptimizer>}};
  return rows;
}

}  // namespace plimsoll
