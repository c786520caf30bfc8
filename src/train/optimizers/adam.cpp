// Adam.
#include <span>

#include "plimsoll/error.h"
#include "plimsoll/ops/optimizer.h"
#include "plimsoll/optimizers.h"

namespace plimsoll {
namespace {

struct AdamOptimizer final : OptimizerBase {
  AdamOptimizerOptions o;
  std::string_view class_name() const override { return "Adam"; }
  void fields(Fields& f) override {
    f("beta_1", o.beta_1);
    f("beta_2", o.beta_2);
    f("epsilon", o.epsilon);
    f("amsgrad", o.amsgrad);
  }
  Tensor update(UpdateScope& s) override {
    const std::vector<Tensor> next = adam_update(s.weight, s.gradient, s.slot("momentum"), s.slot("velocity"), s.learning_rate,
                                                 s.step, {o.beta_1, o.beta_2, o.epsilon});
    s.set_slot("momentum", next[1]);
    s.set_slot("velocity", next[2]);
    return next[0];
  }
};

}  // namespace

Optimizer Adam(LearningRate learning_rate, const AdamOptimizerOptions& options) {
  require(!options.amsgrad, "Adam", "amsgrad is not supported");
  auto made = std::make_shared<AdamOptimizer>();
  made->learning_rate = std::move(learning_rate);
  made->o = options;
  return made;
}

std::span<const ClassDef> classes_adam() {
  static constexpr ClassDef rows[] = {{Family::optimizer, "Adam", "adam", make_default<AdamOptimizer>}};
  return rows;
}

}  // namespace plimsoll
