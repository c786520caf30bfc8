// A step of fit() allocates nothing, from before its batch is read to the end of its sums of loss and
// metrics, where no callback wants the logs.
#include <gtest/gtest.h>

#include <algorithm>

#include "allocations/hooks.h"
#include "plimsoll/error.h"
#include "plimsoll/model.h"

namespace plimsoll::testing {
namespace {

constexpr int64_t kSteps = 120;

// From the end of one step to the end of the next. Threads that read ahead may begin late on a machine with
// much to do, and allocate then, once: what counts is how many steps in a row allocated nothing.
class CountPerStep final : public Callback {
 public:
  bool wants_batch_logs() const override { return false; }
  void on_train_batch_end(int64_t batch, const Logs&) override {
    ++in_a_row;
    for (const auto& [library, count] : stop_counting()) {
      if (count == 0 || library.find("onednn") != library.npos) continue;
      in_a_row = 0;
      text += concat("step ", batch, ": ", count, " by ", library, "; ");
    }
    most_in_a_row = std::max(most_in_a_row, in_a_row);
    ++steps;
    start_counting();
  }
  void on_train_end(const Logs&) override { stop_counting(); }

  int64_t in_a_row = 0, most_in_a_row = 0, steps = 0;
  std::string text;
};

void expect_nothing_allocated(Model& model, const Dataset& data, int64_t steps,
                              const std::string& on_nan = "") {
  model.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  const auto count = std::make_shared<CountPerStep>();
  model.fit(data, {.verbose = 0, .callbacks = {count}, .on_nan = on_nan});
  EXPECT_EQ(count->steps, steps);
  EXPECT_GE(count->most_in_a_row, kSteps / 3) << count->text;
}

constexpr int64_t kRecords = 32 * kSteps;

Dataset images() {
  return Dataset::arrays({Tensor::zeros(DType::f32, {kRecords, 16, 16, 3})},
                         {Tensor::zeros(DType::i32, {kRecords})})
      .batch(32);
}

Sequential network() {
  return Sequential({Input({16, 16, 3}), Conv2D(16, 5, {.activation = "relu"}), BatchNormalization(),
                     MaxPooling2D(2), Flatten(), Dense(32, {.activation = "relu"}),
                     Dense(3, {.activation = "softmax"})});
}

TEST(FitLoop, AllocatesNothingInAStep) {
  Sequential model = network();
  expect_nothing_allocated(model, images(), kSteps);
}

TEST(FitLoop, AllocatesNothingInAStepOverShuffledRecords) {
  Sequential model = network();
  expect_nothing_allocated(model, images().shuffle(3), kSteps);
}

TEST(FitLoop, AllocatesNothingInAStepWithThreadsThatRead) {
  Sequential model = network();
  expect_nothing_allocated(model, images().shuffle(3).prefetch(2), kSteps);
}

TEST(FitLoop, AllocatesNothingInAStepThatIsWatchedForNans) {
  Sequential model = network();
  expect_nothing_allocated(model, images(), kSteps, "raise");
}

}  // namespace
}  // namespace plimsoll::testing
