// LossScaleOptimizer: an optimizer around another one. OptimizerState knows it and does its part: the scale,
// the count of good steps, and leaving out a step whose gradients are not finite.
#pragma once

#include "plimsoll/optimizers.h"

namespace plimsoll {

struct LossScale final : OptimizerBase {
  LossScale();
  std::string_view class_name() const override { return "LossScaleOptimizer"; }
  void fields(Fields& f) override;
  Tensor update(UpdateScope& s) override;  // never called: the inner optimizer's is

  Optimizer inner;
  double initial_scale = 32768;
  int64_t dynamic_growth_steps = 2000;
};

// The optimizer with a LossScaleOptimizer around it, unless it is one.
Optimizer with_loss_scale(const Optimizer& optimizer);

}  // namespace plimsoll
