// fit(.on_nan): steps whose numbers are not finite.
#include "train/nan_watch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "plimsoll/contents.h"
#include "plimsoll/error.h"
#include "plimsoll/log.h"
#include "train/model_body.h"

namespace plimsoll {
namespace {

constexpr int64_t kRows = 12, kFeatures = 3;

// All that a step may change: weights, moving averages, seeds, optimizer, metrics. Bytes.
std::vector<std::string> state_of(const Model& model) {
  const Trainer& trainer = model.body().trainer;
  std::vector<std::string> state;
  for (const auto& list :
       {model.network()->all_variables(), trainer.optimizer().variables(), trainer.metric_states()}) {
    for (const VariablePtr& v : list) {
      const auto bytes = static_cast<size_t>(byte_size(v->value.dtype(), v->value.shape()));
      state.emplace_back(static_cast<const char*>(read_bytes(v->value)), bytes);
    }
  }
  return state;
}

bool all_finite(const Model& model) {
  for (const VariablePtr& v : model.network()->all_variables()) {
    if (v->value.dtype() != DType::f32) continue;
    const auto* p = static_cast<const float*>(read_bytes(v->value));
    for (int64_t i = 0; i < v->value.shape().elements(); ++i) {
      if (!std::isfinite(p[i])) return false;
    }
  }
  return true;
}

// Data whose row `bad` (-1: none) has a value that is not finite.
struct Data {
  explicit Data(int64_t bad = -1, float value = NAN) {
    std::vector<float> xs, ys;
    for (int64_t i = 0; i < kRows * kFeatures; ++i) xs.push_back(std::sin(static_cast<float>(i)));
    for (int64_t i = 0; i < kRows; ++i) ys.push_back(std::cos(static_cast<float>(i)));
    if (bad >= 0) xs[static_cast<size_t>(bad * kFeatures + 1)] = value;
    x = Tensor::from<float>(xs, {kRows, kFeatures});
    y = Tensor::from<float>(ys, {kRows, 1});
  }
  Tensor x, y;
};

Sequential make_model(const Optimizer& optimizer) {
  set_random_seed(5);
  Sequential model({Input({kFeatures}), Dense(4, {.activation = "tanh", .name = "first"}),
                    BatchNormalization(), Dropout(0.2), Dense(1, {.name = "last"})});
  model.compile({.optimizer = optimizer, .loss = "mse", .metrics = {"mae"}});
  return model;
}

FitArgs args(const std::string& on_nan, bool hold = false) {
  FitArgs a;
  a.batch_size = 2;
  a.epochs = 2;
  a.verbose = 0;
  a.shuffle = false;
  a.on_nan = on_nan;
  a.hold_updates = hold;
  a.on_stall = "off";
  return a;
}

struct Quiet {
  Quiet() {
    set_log_sink(
        [this](LogLevel, std::string_view, std::string_view message) { said.emplace_back(message); });
  }
  ~Quiet() { set_log_sink({}); }
  std::vector<std::string> said;
};

const std::vector<std::pair<std::string, Optimizer>>& optimizers() {
  static const std::vector<std::pair<std::string, Optimizer>> all = {
      {"sgd", SGD(0.1)},
      {"momentum", SGD(0.1, {.momentum = 0.9})},
      {"adam", Adam(0.01)},
      {"amsgrad", Adam(0.01, {.amsgrad = true})},
      {"adamw_ema", AdamW(0.01, {.use_ema = true})},
      {"rmsprop", RMSprop(0.01)},
      {"adagrad", Adagrad(0.1)},
      {"clipped", Adam(0.01, {.global_clipnorm = 0.1})},
      {"accumulated", Adam(0.01, {.gradient_accumulation_steps = 2})},
  };
  return all;
}

TEST(NanWatch, ChangesNoBitOfStepsThatAreFinite) {
  const Data data;
  for (const auto& [name, optimizer] : optimizers()) {
    Sequential plain = make_model(optimizer);
    plain.fit(data.x, data.y, args(""));
    for (const bool hold : {false, true}) {
      Sequential watched = make_model(optimizer);
      watched.fit(data.x, data.y, args("raise", hold));
      EXPECT_EQ(state_of(plain), state_of(watched)) << name << hold;
    }
  }
}

TEST(NanWatch, RaisesAndLeavesEveryBitAsBeforeTheStep) {
  const Data data(5);
  for (const auto& [name, optimizer] : optimizers()) {
    Sequential model = make_model(optimizer), stopped = make_model(optimizer);
    FitArgs before = args("");
    before.steps_per_epoch = 2;  // rows 0 to 3 are good
    before.epochs = 1;
    stopped.fit(Dataset::arrays({data.x}, {data.y}).batch(2), before);
    try {
      model.fit(data.x, data.y, args("raise"));
      ADD_FAILURE() << name;
    } catch (const NonFiniteError& e) {
      EXPECT_EQ(e.found().result.name, "batch x0") << e.what();
      EXPECT_EQ(e.found().result.first_bad, 1 * kFeatures + 1) << e.what();
      EXPECT_NE(std::string(e.what()).find("epoch 1, batch 2"), std::string::npos) << e.what();
    }
    if (name != "adamw_ema") {  // at the end of fit() weights become their averages
      EXPECT_EQ(state_of(model), state_of(stopped)) << name;
    }
    EXPECT_TRUE(all_finite(model)) << name;
    model.fit(Data().x, data.y, args("raise"));  // the same model trains on
  }
}

TEST(NanWatch, NamesTheLayerAndTheRangesOfWhatItRead) {
  set_random_seed(1);
  Sequential model({Input({kFeatures}), Dense(2, {.name = "calm"}),
                    Dense(2, {.activation = "exponential", .name = "boom"}), Dense(1)});
  model.compile({.optimizer = SGD(0.1), .loss = "mse"});
  std::vector<Tensor> weights = model.get_weights();
  weights[2] = Tensor::full(DType::f32, {2, 2}, 500);
  weights[3] = Tensor::full(DType::f32, {2}, 1000);
  model.set_weights(weights);
  try {
    model.fit(Data().x, Data().y, args("raise"));
    ADD_FAILURE();
  } catch (const NonFiniteError& e) {
    EXPECT_EQ(e.found().layer, "boom") << e.what();
    EXPECT_NE(e.found().op.find("exp"), std::string::npos) << e.what();
    EXPECT_GT(e.found().result.infinite, 0) << e.what();
    ASSERT_FALSE(e.found().inputs.empty());
    EXPECT_NE(std::string(e.what()).find("from"), std::string::npos) << e.what();
  }
}

// The loss is finite, the gradient of the first kernel is not: 2 * 1e18 * 1e21 is over float32.
Sequential make_steep(const Tensor& x) {
  (void)x;
  Sequential model({Input({1}), Dense(1, {.name = "low"}), Dense(1, {.name = "high"})});
  model.set_weights(std::vector<Tensor>{Tensor::full(DType::f32, {1, 1}, 1e-3),
                                        Tensor::zeros(DType::f32, {1}), Tensor::full(DType::f32, {1, 1}, 1),
                                        Tensor::zeros(DType::f32, {1})});
  model.compile({.optimizer = SGD(1e-37), .loss = "mse"});
  return model;
}

TEST(NanWatch, OfAGradientAloneLeavesItsOwnUpdateOut) {
  const Tensor x = Tensor::full(DType::f32, {2, 1}, 1e21), y = Tensor::zeros(DType::f32, {2, 1});
  Sequential model = make_steep(x);
  try {
    model.fit(x, y, args("raise"));
    ADD_FAILURE();
  } catch (const NonFiniteError& e) {
    EXPECT_NE(std::string(e.what()).find("a gradient is not finite"), std::string::npos) << e.what();
    EXPECT_EQ(e.found().layer, "low") << e.what();
  }
  EXPECT_EQ(model.get_weights()[0].item(), 1e-3f);
  EXPECT_NE(model.get_weights()[2].item(), 1.0);
  EXPECT_TRUE(all_finite(model));
}

TEST(NanWatch, OfAGradientAloneHeldUpdatesChangeNothing) {
  const Tensor x = Tensor::full(DType::f32, {2, 1}, 1e21), y = Tensor::zeros(DType::f32, {2, 1});
  Sequential model = make_steep(x), same = make_steep(x);
  EXPECT_THROW(model.fit(x, y, args("raise", true)), NonFiniteError);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(model.get_weights()[i].item(), same.get_weights()[i].item());
}

// The step of rows 4 and 5 is left out, with its metrics, its seeds and its count.
TEST(NanWatch, SkippingIsTrainingWithoutTheBatch) {
  for (const auto& [name, optimizer] : optimizers()) {
    const Quiet quiet;
    Sequential skipping = make_model(optimizer), without = make_model(optimizer);
    FitArgs once = args("skip");
    once.epochs = 1;
    const History h = skipping.fit(Data(5).x, Data(5).y, once);
    EXPECT_EQ(h.left_out, 1);
    once.on_nan = "";
    const Data data;
    const Dataset all = Dataset::arrays({data.x}, {data.y});
    const auto rows = [&](int64_t first, int64_t count) {
      const auto part = [&](const Tensor& t, int64_t width) {
        return Tensor::from_bytes(DType::f32, {count, width}, t.data<float>() + first * width);
      };
      return std::pair(part(data.x, kFeatures), part(data.y, 1));
    };
    const auto join = [](const Tensor& a, const Tensor& b) {
      std::vector<float> values(a.data<float>(), a.data<float>() + a.shape().elements());
      values.insert(values.end(), b.data<float>(), b.data<float>() + b.shape().elements());
      return Tensor::from<float>(values, a.shape().with(0, a.dim(0) + b.dim(0)));
    };
    const auto [x0, y0] = rows(0, 4);
    const auto [x1, y1] = rows(6, 6);
    const History w = without.fit(join(x0, x1), join(y0, y1), once);
    EXPECT_EQ(state_of(skipping), state_of(without)) << name;
    EXPECT_EQ(h["loss"], w["loss"]) << name;
    ASSERT_EQ(quiet.said.size(), 1u);
    EXPECT_NE(quiet.said[0].find("batch x0"), std::string::npos) << quiet.said[0];
  }
}

// As without a watch: what Keras does.
TEST(NanWatch, WarningLeavesTheStepAsItIs) {
  const Data data(5);
  for (const auto& [name, optimizer] : optimizers()) {
    const Quiet quiet;
    Sequential warned = make_model(optimizer), plain = make_model(optimizer);
    const History a = warned.fit(data.x, data.y, args("warn"));
    const History b = plain.fit(data.x, data.y, args(""));
    EXPECT_EQ(state_of(warned), state_of(plain)) << name;
    EXPECT_FALSE(all_finite(plain)) << name;
    EXPECT_EQ(quiet.said.size(), 1u);
  }
}

TEST(NanWatch, TerminateOnNaNStillEndsTraining) {
  Sequential model = make_model(Adam(0.01));
  FitArgs a = args("");
  a.callbacks = {TerminateOnNaN()};
  const History h = model.fit(Data(5).x, Data(5).y, a);
  EXPECT_EQ(h.epoch.size(), 1u);
}

TEST(NanWatch, LeavesTheInfinitiesOfLossScalingAlone) {
  const auto make = [] {
    set_dtype_policy("mixed_float16");
    set_random_seed(2);
    Sequential model({Input({kFeatures}), Dense(8, {.activation = "tanh"}), Dense(1)});
    model.compile({.optimizer = LossScaleOptimizer(Adam(0.01), {.initial_scale = 1e9}), .loss = "mse"});
    set_dtype_policy("float32");
    return model;
  };
  const Data data;
  Sequential plain = make(), watched = make();
  plain.fit(data.x, data.y, args(""));
  const History h = watched.fit(data.x, data.y, args("raise"));
  EXPECT_EQ(state_of(plain), state_of(watched));
  // The first scales were too large.
  EXPECT_LT(watched.body().trainer.optimizer().iterations()->value.item(), 12);
  EXPECT_TRUE(all_finite(watched));
}

TEST(NanWatch, ForecastNamesWhatHoldingUpdatesTakes) {
  Sequential model({Input({64}), Dense(512), Dense(512), Dense(512), Dense(1)});
  model.compile({.optimizer = Adam(0.01), .loss = "mse"});
  const MemoryForecast plain = forecast(model, 8), held = forecast(model, 8, "", "never", true);
  const int64_t gradients = (64 + 512 + 512) * 512 * 4;
  EXPECT_GE(held.arena, gradients);
  EXPECT_LT(plain.arena, held.arena);
}

// Each gradient is asked for its own update alone: nothing waits for all of them.
TEST(NanWatch, TakesNoMemoryWhereUpdatesAreNotHeld) {
  Sequential model({Input({64}), Dense(512), Dense(512), Dense(512), Dense(1)});
  model.compile({.optimizer = Adam(0.01), .loss = "mse"});
  Trainer& trainer = model.body().trainer;
  const BatchTypes types{{{DType::f32, {8, 64}}}, {{DType::f32, {8, 1}}}, {}};
  const auto arena = [&](NanWatching watching) {
    trainer.set_nan_watching(watching);
    return trainer.choices(StepKind::train, types, false).choices->as_it_is().arena;
  };
  constexpr int64_t kLittle = 16 << 10;
  EXPECT_LE(arena(NanWatching::each), arena(NanWatching::off) + kLittle);
}

TEST(NanWatch, RefusesPoliciesItDoesNotKnow) {
  Sequential model = make_model(SGD(0.1));
  EXPECT_THROW(model.fit(Data().x, Data().y, args("panic")), Error);
  EXPECT_THROW(model.fit(Data().x, Data().y, args("", true)), Error);
}

}  // namespace
}  // namespace plimsoll
