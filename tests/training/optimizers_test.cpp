// Twenty steps of each optimizer, and schedules, against Keras.
#include "plimsoll/optimizers.h"

#include <gtest/gtest.h>

#include "layers/base/trace.h"
#include "plimsoll/error.h"
#include "plimsoll/program.h"
#include "support/compare.h"
#include "train/optimizer_state.h"
#include "training/golden.h"

namespace plimsoll {
namespace {

using testing::golden;

constexpr int64_t kSteps = 20;
// Twenty steps in float32, with divisions by roots of small sums.
constexpr double kTolerance = 1e-5;

std::vector<std::pair<std::string, Optimizer>> rows() {
  return {
      {"sgd", SGD(0.1)},
      {"sgd_momentum", SGD(0.1, {.momentum = 0.9, .weight_decay = 0.01})},
      {"sgd_nesterov", SGD(0.1, {.momentum = 0.9, .nesterov = true, .clipnorm = 1.0})},
      {"rmsprop", RMSprop(0.01)},
      {"rmsprop_momentum", RMSprop(0.01, {.momentum = 0.5, .clipvalue = 0.4})},
      {"rmsprop_centered", RMSprop(0.01, {.momentum = 0.3, .centered = true})},
      {"adam", Adam(0.01)},
      {"adam_amsgrad", Adam(0.01, {.amsgrad = true, .global_clipnorm = 2.0})},
      {"adam_accumulate", Adam(0.01, {.gradient_accumulation_steps = 4})},
      {"adam_ema", Adam(0.01, {.use_ema = true, .ema_momentum = 0.8, .ema_overwrite_frequency = 5})},
      {"adam_schedule", Adam(ExponentialDecay(0.1, 5, 0.5))},
      {"adam_scaled", Adam(0.01, {.loss_scale_factor = 8.0})},
      {"adamw", AdamW(0.01, {.weight_decay = 0.1})},
      {"adagrad", Adagrad(0.1)},
      {"adadelta", Adadelta(1.0)},
      {"adamax", Adamax(0.01)},
      {"nadam", Nadam(0.01)},
      {"ftrl",
       Ftrl(0.1, {.l1_regularization_strength = 0.01, .l2_regularization_strength = 0.02, .beta = 0.1})},
      {"lion", Lion(0.01, {.weight_decay = 0.05})},
      {"lamb", Lamb(0.01)},
      {"adafactor", Adafactor(0.3, {.clip_threshold = 0.8})},
      {"adafactor_decay",
       Adafactor(0.01, {.relative_step = false, .weight_decay = 0.02, .gradient_accumulation_steps = 2})},
      {"muon", Muon(0.01)},
      {"muon_plain", Muon(0.01, {.adam_weight_decay = {},
                                 .adam_lr_ratio = 0.5,
                                 .ns_steps = 3,
                                 .nesterov = false,
                                 .rms_rate = {}})},
      {"schedule_free", ScheduleFreeAdamW(0.01)},
      {"schedule_free_warmup", ScheduleFreeAdamW(0.01, {.warmup_steps = 6, .weight_decay = 0.01})},
  };
}

Tensor step_of(const Tensor& all, int64_t step) {
  const Shape shape = all.shape().without(0);
  return Tensor::from_bytes(all.dtype(), shape,
                            static_cast<char*>(all.data()) + step * byte_size(all.dtype(), shape));
}

std::vector<Tensor> trained(const Optimizer& optimizer) {
  OptimizerState state(optimizer);
  std::vector<VariablePtr> weights;
  std::vector<Tensor> steps;
  Graph graph;
  Trace trace(graph, true);
  std::vector<Tensor> gradients;
  for (const char* i : {"0", "1"}) {
    weights.push_back(std::make_shared<Variable>(
        Variable{.name = "w", .value = golden(std::string("optimizer.weight") + i)}));
    steps.push_back(golden(std::string("optimizer.grad") + i));
    gradients.push_back(graph.input("g", DType::f32, steps.back().shape().without(0)));
  }
  state.build(weights);
  state.apply(trace, weights, gradients);
  trace.add_updates();
  Program program = Program::compile(graph);
  for (int64_t i = 0; i < kSteps; ++i)
    program(std::vector<Tensor>{step_of(steps[0], i), step_of(steps[1], i)});
  return {weights[0]->value, weights[1]->value};
}

TEST(Optimizers, AreKerasOverTwentySteps) {
  for (const auto& [key, optimizer] : rows()) {
    const std::vector<Tensor> got = trained(optimizer);
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(testing::difference(got[i], golden(concat("optimizer.", key, ".", i)), kTolerance), "")
          << key;
    }
  }
  constexpr size_t kWeights = 2, kInputs = 4;  // weight0, weight1, grad0, grad1
  EXPECT_EQ(kWeights * rows().size() + kInputs, testing::golden_names("optimizer.").size());
}

TEST(Optimizers, RefuseWhatMakesNoSense) {
  EXPECT_THROW(Adam(0.01, {.clipnorm = 1.0, .clipvalue = 1.0}), Error);
  EXPECT_THROW(SGD(0.01, {.momentum = 2.0}), Error);
  EXPECT_THROW(Adam(0.01, {.gradient_accumulation_steps = 1}), Error);
  EXPECT_THROW(ExponentialDecay(0.1, 0, 0.5), Error);
}

TEST(Schedules, AreKeras) {
  const std::vector<std::pair<std::string, Schedule>> all = {
      {"exponential", ExponentialDecay(0.1, 7, 0.9)},
      {"exponential_stairs", ExponentialDecay(0.1, 7, 0.9, {.staircase = true})},
      {"inverse", InverseTimeDecay(0.1, 3, 0.5)},
      {"piecewise", PiecewiseConstantDecay({5, 11}, {1.0, 0.5, 0.1})},
      {"polynomial", PolynomialDecay(0.1, 13, {.end_learning_rate = 0.01, .power = 2.0})},
      {"polynomial_cycle", PolynomialDecay(0.1, 8, {.end_learning_rate = 0.01, .cycle = true})},
      {"cosine", CosineDecay(0.1, 20, {.alpha = 0.1})},
      {"cosine_warmup", CosineDecay(0.0, 20, {.warmup_target = 0.1, .warmup_steps = 6})},
      {"restarts", CosineDecayRestarts(0.1, 6, {.m_mul = 0.8, .alpha = 0.05})},
      {"restarts_even", CosineDecayRestarts(0.1, 6, {.t_mul = 1.0})},
  };
  EXPECT_EQ(all.size(), testing::golden_names("schedule.").size());
  for (const auto& [key, schedule] : all) {
    const std::vector<double> want = testing::golden_values("schedule." + key);
    for (size_t step = 0; step < want.size(); ++step) {
      EXPECT_NEAR(schedule->rate(Tensor::full(DType::f32, {}, static_cast<double>(step))).item(), want[step],
                  1e-6)
          << key << " " << step;
    }
  }
}

}  // namespace
}  // namespace plimsoll
