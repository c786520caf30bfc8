// mixed_float16 under a LossScaleOptimizer, step by step against Keras (tests/golden/loss_scale.py).
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "plimsoll/error.h"
#include "plimsoll/model.h"
#include "support/compare.h"
#include "train/model_body.h"

namespace plimsoll {
namespace {

using Json = nlohmann::json;

// Activations and gradients are rounded to float16 in every layer.
constexpr double kTolerance = 1e-2;

const Json& goldens() {
  static const Json json = Json::parse(std::ifstream(PLIMSOLL_GOLDEN_FOLDER "/loss_scale.json"));
  return json;
}

constexpr int64_t kSteps = 20, kRows = 16, kFeatures = 4;

struct Policy {
  explicit Policy(const char* name) { set_dtype_policy(name); }
  ~Policy() { set_dtype_policy("float32"); }
};

Tensor step_of(const char* name, int64_t step, int64_t columns) {
  const auto all = goldens()[name].get<std::vector<float>>();
  const auto size = static_cast<size_t>(kRows * columns);
  return Tensor::from<float>(std::span(all).subspan(static_cast<size_t>(step) * size, size),
                             Shape{kRows, columns});
}

std::vector<Tensor> golden_weights(const Json& values) {
  std::vector<Tensor> weights;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto shape = goldens()["shapes"][i].get<std::vector<int64_t>>();
    weights.push_back(Tensor::from<float>(values[i].get<std::vector<float>>(), Shape(shape)));
  }
  return weights;
}

Sequential golden_model(const Optimizer& optimizer) {
  const Policy policy("mixed_float16");
  Sequential model({Input({kFeatures}), Dense(8, {.activation = "tanh"}), Dense(1)});
  model.set_weights(golden_weights(goldens()["weights"]));
  model.compile({.optimizer = optimizer, .loss = "mse"});
  return model;
}

double state(const Model& model, const std::string& name) {
  for (const VariablePtr& v : model.body().trainer.optimizer().variables()) {
    if (v->name == name) return v->value.item();
  }
  throw std::runtime_error("no " + name);
}

void expect_step(const Model& model, double loss, const Json& want, const std::string& where) {
  EXPECT_EQ(state(model, "dynamic_scale"), want["scale"].get<double>()) << where;
  EXPECT_EQ(state(model, "step_counter"), want["count"].get<double>()) << where;
  EXPECT_EQ(model.body().trainer.optimizer().iterations()->value.item(), want["iterations"].get<double>())
      << where;
  const double wanted = want["loss"];
  EXPECT_NEAR(loss, wanted, kTolerance * std::max(1.0, wanted)) << where;
}

TEST(LossScale, TwentyStepsAreKeras) {
  const std::vector<std::pair<std::string, Optimizer>> rows = {
      {"adam", Adam(0.02)},
      {"sgd_momentum", SGD(0.1, {.momentum = 0.9})},
      {"adamw_ema", AdamW(0.02, {.use_ema = true, .ema_momentum = 0.8})},
      {"adam_clipped", Adam(0.02, {.global_clipnorm = 0.5})},
      {"grows", LossScaleOptimizer(SGD(0.1), {.initial_scale = 64, .dynamic_growth_steps = 3})},
      {"scheduled", LossScaleOptimizer(RMSprop(ExponentialDecay(0.05, 4, 0.5)), {.dynamic_growth_steps = 5})},
  };
  ASSERT_EQ(rows.size(), goldens()["cases"].size());
  for (const auto& [key, optimizer] : rows) {
    Sequential model = golden_model(optimizer);
    const Json& want = goldens()["cases"][key];
    for (int64_t i = 0; i < kSteps; ++i) {
      const Logs logs = model.train_on_batch({step_of("x", i, kFeatures)}, {step_of("y", i, 1)});
      expect_step(model, get_log(logs, "loss"), want["steps"][static_cast<size_t>(i)],
                  key + " step " + std::to_string(i));
    }
    const std::vector<Tensor> got = model.get_weights(), trained = golden_weights(want["weights"]);
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(testing::difference(got[i], trained[i], kTolerance, 1), "") << key;
  }
}

TEST(LossScale, AStepThatOverflowsChangesNothingElse) {
  Sequential model = golden_model(Adam(0.02));
  model.train_on_batch({step_of("x", 0, kFeatures)}, {step_of("y", 0, 1)});
  std::vector<Tensor> before;
  const auto all = [&] {
    std::vector<VariablePtr> list = model.network()->weights();
    for (const VariablePtr& v : model.body().trainer.optimizer().inner_variables()) list.push_back(v);
    return list;
  };
  for (const VariablePtr& v : all()) before.push_back(v->value.copy());
  model.train_on_batch({step_of("x", 6, kFeatures)}, {step_of("y", 6, 1)});
  const std::vector<VariablePtr> after = all();
  for (size_t i = 0; i < after.size(); ++i)
    EXPECT_EQ(testing::bit_difference(after[i]->value, before[i]), "") << after[i]->name;
}

TEST(LossScale, IsPutAroundTheOptimizerOnlyWhereKerasDoes) {
  const auto scales = [](const char* policy_name, bool automatic) {
    const Policy policy(policy_name);
    Sequential model({Input({2}), Dense(2)});
    model.compile({.loss = "mse", .auto_scale_loss = automatic});
    return model.body().trainer.optimizer().loss_scale() != nullptr;
  };
  EXPECT_TRUE(scales("mixed_float16", true));
  EXPECT_FALSE(scales("mixed_float16", false));
  EXPECT_FALSE(scales("mixed_bfloat16", true));
  EXPECT_FALSE(scales("float16", true));
  EXPECT_FALSE(scales("float32", true));
}

TEST(LossScale, RefusesWhatMakesNoSense) {
  EXPECT_THROW(LossScaleOptimizer(SGD(0.1), {.initial_scale = 0}), Error);
  EXPECT_THROW(LossScaleOptimizer(SGD(0.1), {.initial_scale = NAN}), Error);
  EXPECT_THROW(LossScaleOptimizer(SGD(0.1), {.dynamic_growth_steps = 0}), Error);
  EXPECT_THROW(LossScaleOptimizer(LossScaleOptimizer(SGD(0.1))), Error);
  EXPECT_THROW(LossScaleOptimizer(Optimizer()), Error);
  Sequential model({Input({2}), Dense(2)});
  EXPECT_THROW(model.compile({.optimizer = "LossScaleOptimizer", .loss = "mse"}), Error);
}

}  // namespace
}  // namespace plimsoll
