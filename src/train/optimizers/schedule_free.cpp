// ScheduleFreeAdamW: steps are taken at a mix of the last point and the average of all (Defazio et al. 2024),
// so that no schedule needs to bring the rate down.
#include <span>

#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"
#include "train/optimizers/optimizer_with.h"

namespace plimsoll {
namespace {

struct ScheduleFree final : OptimizerWith<ScheduleFreeAdamWOptimizerOptions> {
  ScheduleFree() : OptimizerWith("schedule_free_adam_w", 0.0025) {}
  std::string_view class_name() const override { return "ScheduleFreeAdamW"; }
  void fields(Fields& f) override {
    OptimizerBase::fields(f);
    f("beta_1", o.beta_1);
    f("beta_2", o.beta_2);
    f("epsilon", o.epsilon);
    f("warmup_steps", o.warmup_steps);
    if (f.reading()) check();
  }
  void check() const {
    require(o.beta_1 > 0 && o.beta_1 <= 1, class_name(), "expected 0 < beta_1 <= 1, got ", o.beta_1);
  }
  std::vector<std::vector<SlotDef>> slots() const override {
    return {{{.name = "momentum", .copies_weight = true}, {"velocity"}}};
  }
  Tensor update(UpdateScope& s) override {
    const Tensor t = cast(s.step, s.weight.dtype()) + 1.0;
    Tensor rate = s.learning_rate;
    if (o.warmup_steps > 0) rate = rate * minimum(t / static_cast<double>(o.warmup_steps), scalar_like(t, 1));
    const Tensor v = s.slot("velocity") + (square(s.gradient) - s.slot("velocity")) * (1 - o.beta_2);
    const Tensor root = sqrt(v / (1.0 - power(scalar_like(t, o.beta_2), t))) + o.epsilon;
    const Tensor z = s.slot("momentum");
    const Tensor next = z - rate * s.gradient / root;
    s.set_slot("velocity", v);
    s.set_slot("momentum", next);
    const Tensor share = 1.0 / t;
    const Tensor average = (s.weight - (1 - o.beta_1) * z) / o.beta_1;
    return (1 - o.beta_1) * next + o.beta_1 * ((1.0 - share) * average + share * next);
  }
};

}  // namespace

Optimizer ScheduleFreeAdamW(LearningRate rate, const ScheduleFreeAdamWOptimizerOptions& o) {
  const Optimizer made = make_optimizer<ScheduleFree>(std::move(rate), o);
  static_cast<ScheduleFree&>(*made).check();
  return made;
}

std::span<const ClassDef> classes_schedule_free() {
  static constexpr ClassDef rows[] = {
      {Family::optimizer, "ScheduleFreeAdamW", "schedulefreeadamw", make_default<ScheduleFree>}};
  return rows;
}

}  // namespace plimsoll
