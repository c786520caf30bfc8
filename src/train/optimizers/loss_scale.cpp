#include "train/optimizers/loss_scale.h"

#include <cmath>
#include <span>

#include "plimsoll/error.h"

namespace plimsoll {
namespace {

void check(const LossScale& o) {
  require(bool(o.inner), "LossScaleOptimizer", "expected an optimizer to scale for, got none");
  require(dynamic_cast<const LossScale*>(o.inner.get()) == nullptr, "LossScaleOptimizer",
          "expected an optimizer that does not scale the loss itself, got another LossScaleOptimizer");
  require(std::isfinite(o.initial_scale) && o.initial_scale > 0, "LossScaleOptimizer",
          "expected an initial_scale above 0, got ", o.initial_scale);
  require(o.dynamic_growth_steps >= 1, "LossScaleOptimizer", "expected dynamic_growth_steps >= 1, got ",
          o.dynamic_growth_steps);
}

}  // namespace

LossScale::LossScale() {
  name = "loss_scale_optimizer";
  learning_rate = 0.0;
}

void LossScale::fields(Fields& f) {
  f("name", name);
  f("inner_optimizer", inner);
  f("initial_scale", initial_scale);
  f("dynamic_growth_steps", dynamic_growth_steps);
  if (!f.reading()) return;
  bool dynamic = true;  // Keras 2 writes it
  f("dynamic", dynamic);
  require(dynamic, "LossScaleOptimizer",
          "expected dynamic = true; a fixed scale is loss_scale_factor of the ", "inner optimizer");
  check(*this);
}

Tensor LossScale::update(UpdateScope&) {
  fail(ErrorKind::internal, "LossScaleOptimizer", "has no update of its own");
}

Optimizer LossScaleOptimizer(Optimizer inner_optimizer, const LossScaleOptimizerOptions& options) {
  auto made = std::make_shared<LossScale>();
  made->inner = std::move(inner_optimizer);
  made->initial_scale = options.initial_scale;
  made->dynamic_growth_steps = options.dynamic_growth_steps;
  if (!options.name.empty()) made->name = options.name;
  check(*made);
  return made;
}

Optimizer with_loss_scale(const Optimizer& optimizer) {
  const bool scales = dynamic_cast<const LossScale*>(optimizer.get()) != nullptr;
  return scales || !optimizer ? optimizer : LossScaleOptimizer(optimizer);
}

std::span<const ClassDef> classes_loss_scale() {
  static constexpr ClassDef rows[] = {
      {Family::optimizer, "LossScaleOptimizer", "lossscaleoptimizer", make_default<LossScale>}};
  return rows;
}

}  // namespace plimsoll
