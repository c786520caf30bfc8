// Lamb: Adam's step, as long as the weight is for its length (You et al. 2019).
#include <span>

#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "train/optimizers/optimizer_with.h"

namespace plimsoll {
namespace {

struct LambOptimizer final : OptimizerWith<LambOptimizerOptions> {
  LambOptimizer() : OptimizerWith("lamb") {}
  std::string_view class_name() const override { return "Lamb"; }
  void fields(Fields& f) override {
    OptimizerBase::fields(f);
    beta_fields(f, o);
  }
  std::vector<std::vector<SlotDef>> slots() const override { return {{{"momentum"}, {"velocity"}}}; }
  Tensor update(UpdateScope& s) override {
    const Tensor t = cast(s.step, s.weight.dtype()) + 1.0;
    const Tensor m = s.slot("momentum") + (s.gradient - s.slot("momentum")) * (1 - o.beta_1);
    const Tensor v = s.slot("velocity") + (square(s.gradient) - s.slot("velocity")) * (1 - o.beta_2);
    s.set_slot("momentum", m);
    s.set_slot("velocity", v);
    const Tensor m_hat = m / (1.0 - power(scalar_like(t, o.beta_1), t));
    const Tensor v_hat = v / (1.0 - power(scalar_like(t, o.beta_2), t));
    const Tensor update = m_hat / (sqrt(v_hat) + o.epsilon);
    const Tensor length = sqrt(sum(square(s.weight))), step = sqrt(sum(square(update)));
    const Tensor zero = scalar_like(length, 0), one = scalar_like(length, 1);
    const Tensor both = bitwise_and(greater(length, zero), greater(step, zero));
    const Tensor ratio = where(both, length / where(both, step, one), one);
    return s.weight - ratio * s.learning_rate * update;
  }
};

}  // namespace

Optimizer Lamb(LearningRate rate, const LambOptimizerOptions& o) {
  return make_optimizer<LambOptimizer>(std::move(rate), o);
}

std::span<const ClassDef> classes_lamb() {
  static constexpr ClassDef rows[] = {{Family::optimizer, "Lamb", "lamb", make_default<LambOptimizer>}};
  return rows;
}

}  // namespace plimsoll
