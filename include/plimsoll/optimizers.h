// Optimizers and schedules:  model.compile({.optimizer = Adam(1e-3)})
#pragma once

#include "plimsoll/config.h"
#include "plimsoll/initializers.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

class ScheduleBase : public Configurable {
 public:
  static constexpr Family kFamily = Family::schedule;
  virtual Tensor rate(const Tensor& step) = 0;  // step: a float32 scalar
};
using Schedule = Ref<ScheduleBase>;

// A number, or a schedule.
struct LearningRate {
  LearningRate(double rate) : rate(rate) {}
  LearningRate(Schedule schedule) : schedule(std::move(schedule)) {}
  double rate = 0;
  Schedule schedule;
};

// What the update of one weight sees.
class UpdateScope {
 public:
  virtual ~UpdateScope() = default;
  Tensor weight, gradient;
  Tensor learning_rate;  // scalar of the weight's dtype
  Tensor step;           // int64 scalar, 0 in the first step
  // A tensor the optimizer keeps for this weight, of its shape.
  virtual Tensor slot(std::string_view name, const Initializer& initializer = "zeros") = 0;
  virtual void set_slot(std::string_view name, const Tensor& next) = 0;
};

class OptimizerBase : public Configurable {
 public:
  static constexpr Family kFamily = Family::optimizer;
  // The new value of one weight.
  virtual Tensor update(UpdateScope& s) = 0;

  LearningRate learning_rate = 0.001;
};
using Optimizer = Ref<OptimizerBase>;

struct AdamOptimizerOptions {
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  bool amsgrad = false;
};
Optimizer Adam(LearningRate learning_rate = 0.001, const AdamOptimizerOptions& options = {});

}  // namespace plimsoll
