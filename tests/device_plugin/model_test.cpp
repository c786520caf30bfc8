// Models of Keras's layers on the device, by its name: fit with validation, evaluate, predict, as on the CPU.
#include "plimsoll/model.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "device_plugin/interpreter.h"
#include "plimsoll/config.h"
#include "plimsoll/devices.h"
#include "support/compare.h"
#include "support/fill.h"

namespace plimsoll::testing {
namespace {

// Losses and probabilities after twelve steps of Adam in float32.
constexpr double kTolerance = 1e-3;

// The plug-in is found by PLIMSOLL_DEVICES, as a user's is.
class DeviceModel : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("PLIMSOLL_DEVICES", INTERPRETER, 1);
    setenv("PLIMSOLL_INTERPRETER", "fuse_folds", 1);
  }
  void TearDown() override { unsetenv("PLIMSOLL_DEVICES"); }
};

struct Outcome {
  std::vector<std::pair<std::string, std::vector<double>>> history;
  double evaluated = 0;
  Tensor predicted;
};

using Make = std::function<Sequential()>;

Outcome train(const Make& make, const char* device, const Tensor& x, const Tensor& y) {
  set_random_seed(7);
  Sequential model = make();
  model.compile({.optimizer = Adam(2e-3),
                 .loss = "sparse_categorical_crossentropy",
                 .metrics = {"accuracy"},
                 .device = device});
  const History h =
      model.fit(x, y, {.batch_size = 16, .epochs = 3, .verbose = 0, .validation_split = 0.25, .seed = 3});
  Outcome o;
  for (const auto& [name, values] : h.history) o.history.emplace_back(name, values);
  o.evaluated = *find_log(model.evaluate(x, y, {.verbose = 0}), "loss");
  o.predicted = model.predict(x, {.verbose = 0});
  return o;
}

void expect_alike(const Make& make, const Tensor& x, const Tensor& y) {
  const Outcome cpu = train(make, "cpu", x, y), device = train(make, "interpreter", x, y);
  ASSERT_EQ(device.history.size(), cpu.history.size());
  for (size_t i = 0; i < cpu.history.size(); ++i) {
    const auto& [name, want] = cpu.history[i];
    for (size_t epoch = 0; epoch < want.size(); ++epoch)
      EXPECT_NEAR(device.history[i].second[epoch], want[epoch], kTolerance) << name << " " << epoch;
  }
  EXPECT_NEAR(device.evaluated, cpu.evaluated, kTolerance);
  EXPECT_EQ(difference(device.predicted, cpu.predicted, kTolerance), "");
}

TEST_F(DeviceModel, AnMlpWithDropoutTrainsAsOnTheCpu) {
  expect_alike(
      [] {
        return Sequential({Input({6}), Dense(16, {.activation = "relu"}), Dropout(0.25),
                           Dense(3, {.activation = "softmax"})});
      },
      fill(DType::f32, {64, 6}, -1, 1, 1), fill(DType::i32, {64}, 0, 2, 2));
}

TEST_F(DeviceModel, ACnnWithBatchNormalizationTrainsAsOnTheCpu) {
  expect_alike(
      [] {
        return Sequential({Input({10, 10, 2}), Conv2D(4, 3, {.activation = "relu"}), BatchNormalization(),
                           MaxPooling2D(2), Conv2D(6, 3), AveragePooling2D(2), Flatten(),
                           Dense(3, {.activation = "softmax"})});
      },
      fill(DType::f32, {64, 10, 10, 2}, 0, 1, 1), fill(DType::i32, {64}, 0, 2, 2));
}

TEST_F(DeviceModel, AnLstmTrainsAsOnTheCpu) {
  expect_alike(
      [] {
        return Sequential({Input({7, 4}), LSTM(8), Dense(3, {.activation = "softmax"})});
      },
      fill(DType::f32, {64, 7, 4}, -1, 1, 1), fill(DType::i32, {64}, 0, 2, 2));
}

Sequential classifier() {
  Sequential model({Input({6}), Dense(16, {.activation = "relu"}), Dense(3, {.activation = "softmax"})});
  model.compile(
      {.optimizer = Adam(2e-3), .loss = "sparse_categorical_crossentropy", .device = "interpreter"});
  return model;
}

TEST_F(DeviceModel, WhatWasTrainedThereIsSavedAndGoesOnOnTheCpu) {
  const Tensor x = fill(DType::f32, {64, 6}, -1, 1, 1), y = fill(DType::i32, {64}, 0, 2, 2);
  Sequential model = classifier();
  model.fit(x, y, {.batch_size = 16, .epochs = 2, .verbose = 0});
  const std::string file = concat(::testing::TempDir(), "device_", getpid(), ".keras");
  model.save(file);
  Model loaded = load_model(file);
  std::remove(file.c_str());
  loaded.set_device("cpu");
  EXPECT_EQ(difference(loaded.predict(x), model.predict(x), 1e-5), "");
  model.set_device("cpu");
  EXPECT_EQ(difference(loaded.predict(x), model.predict(x), 1e-6), "");
  const double before = *find_log(model.evaluate(x, y), "loss");
  model.fit(x, y, {.batch_size = 16, .epochs = 20, .verbose = 0});
  EXPECT_LT(*find_log(model.evaluate(x, y), "loss"), before);
}

TEST_F(DeviceModel, ADeviceThatIsLostEndsTheFitAndTheModelGoesOnWithNewWeights) {
  const Tensor x = fill(DType::f32, {64, 6}, -1, 1, 1), y = fill(DType::i32, {64}, 0, 2, 2);
  setenv("PLIMSOLL_INTERPRETER", "lose_at=300", 1);
  Sequential model = classifier();
  const std::vector<Tensor> kept = model.get_weights();
  const Error e = error_of([&] { model.fit(x, y, {.batch_size = 16, .epochs = 50, .verbose = 0}); });
  EXPECT_EQ(e.kind(), ErrorKind::device) << e.what();
  EXPECT_NE(std::string(e.what()).find("lost"), std::string::npos) << e.what();
  model.set_device("cpu");
  model.set_weights(kept);
  model.compile({.optimizer = Adam(2e-3), .loss = "sparse_categorical_crossentropy", .device = "cpu"});
  EXPECT_NO_THROW(model.fit(x, y, {.batch_size = 16, .epochs = 2, .verbose = 0}));
}

TEST_F(DeviceModel, AFitThatDoesNotFitTheDeviceIsRefusedBeforeItStarts) {
  const Tensor x = fill(DType::f32, {64, 6}, -1, 1, 1), y = fill(DType::i32, {64}, 0, 2, 2);
  Sequential model = classifier();
  const Error e = error_of([&] {
    model.fit(x, y, {.batch_size = 16, .epochs = 1, .verbose = 0, .memory = "interpreter:0=2KiB"});
  });
  EXPECT_EQ(e.kind(), ErrorKind::out_of_memory) << e.what();
  EXPECT_NE(std::string(e.what()).find("interpreter:0"), std::string::npos) << e.what();
  EXPECT_NO_THROW(
      model.fit(x, y, {.batch_size = 16, .epochs = 1, .verbose = 0, .memory = "interpreter:0=1MiB"}));
}

TEST_F(DeviceModel, AForecastUnderTheDevicesLineIsWhatFitThenDoes) {
  const Tensor x = fill(DType::f32, {64, 6}, -1, 1, 1), y = fill(DType::i32, {64}, 0, 2, 2);
  const auto under = [&](int64_t bytes) { return concat("interpreter:0=", bytes); };
  const Sequential model = classifier();
  const MemoryForecast free = forecast(model, 16), refused = forecast(model, 16, under(2048));
  EXPECT_EQ(free.device, "interpreter:0");
  EXPECT_TRUE(free.fits);
  EXPECT_GT(free.on_device.arena, 0);
  EXPECT_EQ(free.arena, 0) << "nothing of the step is on the host";
  EXPECT_FALSE(refused.fits);
  EXPECT_EQ(refused.line, 2048);
  EXPECT_GT(refused.least, 2048);
  EXPECT_LE(refused.least, free.on_device.total());
  EXPECT_TRUE(forecast(model, 16, under(refused.least)).fits);
  EXPECT_FALSE(forecast(model, 16, under(refused.least - 1)).fits);
  EXPECT_TRUE(forecast(model, 16, "1MiB").fits) << "the host's line says nothing about a step on a device";
  const auto fit = [&](int64_t line) {
    Sequential fresh = classifier();
    fresh.fit(x, y, {.batch_size = 16, .epochs = 1, .verbose = 0, .memory = under(line)});
  };
  EXPECT_NO_THROW(fit(refused.least));
  EXPECT_EQ(error_of([&] { fit(refused.least - 1); }).kind(), ErrorKind::out_of_memory);
}

TEST_F(DeviceModel, IsListedAndFoundByName) {
  const std::vector<DeviceInfo> all = devices();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].name, "interpreter:0");
  EXPECT_EQ(all[1].library, INTERPRETER);
  EXPECT_EQ(all[1].problem, "");
  EXPECT_EQ(all[1].memory_total, int64_t{1} << 30);
  EXPECT_NE(find_device("interpreter"), nullptr);
  EXPECT_EQ(find_device("cpu"), nullptr);
  const Error e = error_of([] { find_device("cuda"); });
  EXPECT_EQ(e.kind(), ErrorKind::not_found);
  EXPECT_NE(std::string(e.what()).find("interpreter:0"), std::string::npos) << e.what();
}

TEST_F(DeviceModel, APluginThatCannotBeUsedIsListedWithTheReason) {
  setenv("PLIMSOLL_DEVICES", (std::string(FOREIGN_PLUGIN) + ":" + INTERPRETER).c_str(), 1);
  const std::vector<DeviceInfo> all = devices();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_NE(all[1].problem.find("version"), std::string::npos) << all[1].problem;
  EXPECT_EQ(all[2].name, "interpreter:0");
}

}  // namespace
}  // namespace plimsoll::testing
