// RMSprop.
#include <span>

#include "plimsoll/ops/math.h"
#include "plimsoll/ops/optimizer.h"
#include "train/optimizers/optimizer_with.h"

namespace plimsoll {
namespace {

struct RmspropOptimizer final : OptimizerWith<RmspropOptimizerOptions> {
  RmspropOptimizer() : OptimizerWith("rmsprop") {}
  std::string_view class_name() const override { return "RMSprop"; }
  void fields(Fields& f) override {
    OptimizerBase::fields(f);
    f("rho", o.rho);
    f("momentum", o.momentum);
    f("epsilon", o.epsilon);
    f("centered", o.centered);
  }
  std::vector<std::vector<SlotDef>> slots() const override {
    std::vector<std::vector<SlotDef>> groups = {{{"velocity"}}};
    if (o.momentum > 0) groups.push_back({{"momentum"}});
    if (o.centered) groups.push_back({{"average_gradient"}});
    return groups;
  }
  bool guards() const override { return !o.centered; }
  Tensor update(UpdateScope& s) override {
    if (o.centered) return update_centered(s);
    const Tensor slot = o.momentum > 0 ? s.slot("momentum") : Tensor();
    const std::vector<Tensor> next = rmsprop_update(s.weight, s.gradient, s.slot("velocity"), slot,
                                                    s.learning_rate, {o.rho, o.momentum, o.epsilon}, s.guard);
    s.set_slot("velocity", next[1]);
    if (o.momentum > 0) s.set_slot("momentum", next[2]);
    return next[0];
  }

 private:
  Tensor update_centered(UpdateScope& s) const {
    const Tensor velocity = o.rho * s.slot("velocity") + (1 - o.rho) * square(s.gradient);
    const Tensor average = o.rho * s.slot("average_gradient") + (1 - o.rho) * s.gradient;
    s.set_slot("velocity", velocity);
    s.set_slot("average_gradient", average);
    Tensor step = s.learning_rate * s.gradient / sqrt(velocity - square(average) + o.epsilon);
    if (o.momentum > 0) {
      step = o.momentum * s.slot("momentum") + step;
      s.set_slot("momentum", step);
    }
    return s.weight - step;
  }
};

}  // namespace

Optimizer RMSprop(LearningRate learning_rate, const RmspropOptimizerOptions& options) {
  return make_optimizer<RmspropOptimizer>(std::move(learning_rate), options);
}

std::span<const ClassDef> classes_rmsprop() {
  static constexpr ClassDef rows[] = {
      {Family::optimizer, "RMSprop", "rmsprop", make_default<RmspropOptimizer>}};
  return rows;
}

}  // namespace plimsoll
