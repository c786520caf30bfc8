// What is not a training step under a line: validation, evaluate and predict are planned before they begin
// and refused with numbers; a forecast is of what is then made.
#include <gtest/gtest.h>

#include "memory/account.h"
#include "memory/budget.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"
#include "plimsoll/model.h"

namespace plimsoll {
namespace {

constexpr int64_t kMiB = 1 << 20;

Model wide() {
  set_random_seed(1);
  Sequential m(
      {Input({16}), Dense(512, {.activation = "relu"}), Dense(512, {.activation = "relu"}), Dense(4)});
  m.compile({.optimizer = "sgd", .loss = "mse", .threads = 1});
  return m;
}
Tensor x(int64_t rows) { return Tensor::full(DType::f32, {rows, 16}, 0.5); }
Tensor y(int64_t rows) { return Tensor::zeros(DType::f32, {rows, 4}); }

class PassesUnderLine : public ::testing::Test {
 protected:
  ~PassesUnderLine() override { set_memory_limit(INT64_MAX); }
  static void leave(int64_t bytes) {
    set_memory_limit(int64_t{1} << 50);  // measures
    set_memory_limit(memory_use().engine + bytes);
  }
};

template <class Call>
MemoryLineError::Numbers refused(const Call& call) {
  try {
    call();
  } catch (const MemoryLineError& e) {
    const MemoryLineError::Numbers& n = e.numbers();
    EXPECT_GT(n.need, n.line) << e.what();
    EXPECT_GT(n.least, n.line) << e.what();
    EXPECT_LE(n.least, n.need) << e.what();
    EXPECT_GT(n.largest_batch, 0) << e.what();
    EXPECT_LT(n.largest_batch, n.batch) << e.what();
    EXPECT_FALSE(n.layers.empty());
    return n;
  }
  ADD_FAILURE() << "expected MemoryLineError";
  return {};
}

TEST_F(PassesUnderLine, PredictNamesTheLargestBatchAndTheLeastLine) {
  Model m = wide();
  const Tensor many = x(8192);
  leave(8 * kMiB);
  const auto n = refused([&] { m.predict(many, {.batch_size = 8192}); });
  EXPECT_EQ(n.batch, 8192);
  m.predict(many, {.batch_size = n.largest_batch});
  EXPECT_LE(account::used(), n.line);
  set_memory_limit(n.least + n.least / 100);
  m.predict(many, {.batch_size = 8192});
}

TEST_F(PassesUnderLine, EvaluateNamesTheLargestBatchAndTheLeastLine) {
  Model m = wide();
  const Tensor many = x(8192), right = y(8192);
  leave(8 * kMiB);
  const auto n = refused([&] { m.evaluate(many, right, {.batch_size = 8192}); });
  EXPECT_EQ(n.batch, 8192);
  m.evaluate(many, right, {.batch_size = n.largest_batch});
  set_memory_limit(n.least + n.least / 100);
  m.evaluate(many, right, {.batch_size = 8192});
}

TEST_F(PassesUnderLine, ValidationWithALargerBatchIsPartOfTheCheck) {
  Model m = wide();
  int64_t batches = 0;
  const CallbackPtr count = LambdaCallback({.on_train_batch_begin = [&](int64_t) { ++batches; }});
  const Tensor few = x(64), few_y = y(64), many = x(8192), many_y = y(8192);
  const auto fit = [&](int64_t validation_batch, const std::string& line) {
    m.fit(few, few_y,
          {.batch_size = 32,
           .verbose = 0,
           .callbacks = {count},
           .validation_x = {many},
           .validation_y = {many_y},
           .validation_batch_size = validation_batch,
           .memory = line,
           .micro_batch = "never"});
  };
  const auto n = refused([&] { fit(8192, "10MiB"); });
  EXPECT_EQ(n.batch, 8192);
  EXPECT_EQ(batches, 0);
  fit(n.largest_batch, "10MiB");
  EXPECT_EQ(batches, 2);
  fit(8192, std::to_string(n.least));
}

// Frozen weights get a copy in the layout that kernels like where there is no line, and none under one.
TEST_F(PassesUnderLine, AForecastUnderALineIsOfWhatIsMadeUnderIt) {
  const auto frozen = [] {
    set_random_seed(1);
    Sequential m({Input({24, 24, 3}), Conv2D(64, 5, {.name = "frozen"}), Flatten(), Dense(4)});
    m.compile({.optimizer = "sgd", .loss = "mse", .threads = 1});
    m.get_layer("frozen")->set_trainable(false);
    return m;
  };
  const Tensor images = Tensor::full(DType::f32, {16, 24, 24, 3}, 0.5);
  Model m = frozen();
  const MemoryForecast f = forecast(m, 16, "200MiB");
  const int64_t programs = account::used(Owner::programs), weights = account::used(Owner::weights);
  int64_t held = 0, copies = 0;
  const CallbackPtr look = LambdaCallback({.on_train_batch_end = [&](int64_t, const Logs&) {
    held = account::used(Owner::programs) - programs;
    copies = account::used(Owner::weights) - weights;
  }});
  m.fit(images, y(16), {.batch_size = 16, .verbose = 0, .callbacks = {look}, .memory = "200MiB"});
  EXPECT_EQ(held, f.programs);
  EXPECT_EQ(copies, 0);
}

// Each shape is a Program; under a line the old ones go.
TEST_F(PassesUnderLine, DataOfManyShapesKeepsNoMoreProgramsThanTheLineHolds) {
  set_random_seed(1);
  Sequential m({Input({-1, 4}), Dense(32, {.activation = "relu"}), LSTM(16), Dense(4)});
  m.compile({.optimizer = "adam", .loss = "mse", .threads = 1});
  const auto step = [&](int64_t length) {
    m.train_on_batch({Tensor::full(DType::f32, {8, length, 4}, 0.5)}, {y(8)});
  };
  step(60);
  const int64_t one = account::used(Owner::programs);
  leave(2 * one);
  for (int64_t length = 3; length < 60; ++length) {
    step(length);
    ASSERT_LE(account::used(), account::limit()) << length;
  }
}

}  // namespace
}  // namespace plimsoll
