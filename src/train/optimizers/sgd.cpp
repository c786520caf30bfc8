// SGD, and what all optimizers have in common.
#include <span>

#include "plimsoll/error.h"
#include "plimsoll/layer.h"
#include "plimsoll/ops/optimizer.h"
#include "train/optimizers/optimizer_with.h"

namespace plimsoll {
namespace {

struct SgdOptimizer final : OptimizerWith<SgdOptimizerOptions> {
  SgdOptimizer() : OptimizerWith("sgd", 0.01) {}
  std::string_view class_name() const override { return "SGD"; }
  void fields(Fields& f) override {
    OptimizerBase::fields(f);
    f("momentum", o.momentum);
    f("nesterov", o.nesterov);
  }
  std::vector<std::vector<SlotDef>> slots() const override {
    if (o.momentum == 0) return {};
    return {{{"momentum"}}};
  }
  bool guards() const override { return true; }
  Tensor update(UpdateScope& s) override {
    const Tensor velocity = o.momentum != 0 ? s.slot("momentum") : Tensor();
    const std::vector<Tensor> next =
        sgd_update(s.weight, s.gradient, velocity, s.learning_rate, o.momentum, o.nesterov, s.guard);
    if (o.momentum != 0) s.set_slot("momentum", next[1]);
    return next[0];
  }
};

}  // namespace

void OptimizerBase::fields(Fields& f) {
  f("name", name);
  const bool scheduled = f.reading() ? f.has_object("learning_rate") : bool(learning_rate.schedule);
  if (scheduled)
    f("learning_rate", learning_rate.schedule);
  else
    f("learning_rate", learning_rate.rate);
  f("weight_decay", weight_decay);
  f("clipnorm", clipnorm);
  f("global_clipnorm", global_clipnorm);
  f("clipvalue", clipvalue);
  f("use_ema", use_ema);
  f("ema_momentum", ema_momentum);
  f("ema_overwrite_frequency", ema_overwrite_frequency);
  f("loss_scale_factor", loss_scale_factor);
  f("gradient_accumulation_steps", gradient_accumulation_steps);
}

std::optional<Shape> OptimizerBase::slot_shape(const SlotDef&, const Variable& weight) const {
  return weight.value.shape();
}

void check_optimizer(const OptimizerBase& o) {
  const std::string_view place = o.class_name();
  const int clips = o.clipnorm.has_value() + o.clipvalue.has_value() + o.global_clipnorm.has_value();
  require(clips <= 1, place, "only one of clipnorm, clipvalue and global_clipnorm can be set");
  const int64_t steps = o.gradient_accumulation_steps.value_or(2);
  require(steps >= 2, place, "expected gradient_accumulation_steps >= 2, got ", steps);
  require(!o.use_ema || (o.ema_momentum >= 0 && o.ema_momentum <= 1), place,
          "expected ema_momentum between 0 and 1, got ", o.ema_momentum);
  const int64_t frequency = o.ema_overwrite_frequency.value_or(1);
  require(frequency >= 1, place, "expected ema_overwrite_frequency >= 1, got ", frequency);
}

Optimizer SGD(LearningRate learning_rate, const SgdOptimizerOptions& options) {
  require(options.momentum >= 0 && options.momentum <= 1, "SGD", "expected a momentum between 0 and 1, got ",
          options.momentum);
  return make_optimizer<SgdOptimizer>(std::move(learning_rate), options);
}

std::span<const ClassDef> classes_sgd() {
  static constexpr ClassDef rows[] = {{Family::optimizer, "SGD", "sgd", make_default<SgdOptimizer>}};
  return rows;
}

}  // namespace plimsoll
