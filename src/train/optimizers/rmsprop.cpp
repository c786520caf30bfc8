// RMSprop.
#include <span>

#include "plimsoll/ops/optimizer.h"
#include "plimsoll/optimizers.h"

namespace plimsoll {
namespace {

struct RmspropOptimizer final : OptimizerBase {
  double rho = 0.9, momentum = 0.0, epsilon = 1e-7;
  std::string_view class_name() const override { return "RMSprop"; }
  void fields(Fields& f) override {
    f("rho", rho);
    f("momentum", momentum);
    f("epsilon", epsilon);
  }
  Tensor update(UpdateScope& s) override {
    const Tensor slot = momentum > 0 ? s.slot("momentum") : Tensor();
    const std::vector<Tensor> next =
        rmsprop_update(s.weight, s.gradient, s.slot("velocity"), slot, s.learning_rate, {rho, momentum, epsilon});
    s.set_slot("velocity", next[1]);
    if (momentum > 0) s.set_slot("momentum", next[2]);
    return next[0];
  }
};

}  // namespace

std::span<const ClassDef> classes_rmsprop() {
  static constexpr ClassDef rows[] = {{Family::optimizer, "RMSprop", "rmsprop", make_default<RmspropOptimizer>}};
  return rows;
}

}  // namespace plimsoll
