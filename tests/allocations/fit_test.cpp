// A step of fit() allocates nothing, from before its batch is read to the end of its sums of loss and
// metrics, where no callback wants the logs.
#include <gtest/gtest.h>

#include "allocations/hooks.h"
#include "plimsoll/model.h"

namespace plimsoll::testing {
namespace {

constexpr int64_t kSteps = 120;

// From the end of one step to the end of the next.
class CountPerStep final : public Callback {
 public:
  bool wants_batch_logs() const override { return false; }
  void on_train_batch_end(int64_t batch, const Logs&) override {
    for (const auto& [library, count] : stop_counting()) {
      if (batch < kWarm) continue;
      seen += library.find("onednn") != library.npos ? 0 : count;
      text += library + ": " + std::to_string(count) + " ";
    }
    ++steps;
    start_counting();
  }
  void on_train_end(const Logs&) override { stop_counting(); }

  // Threads that read ahead may begin late, and allocate then.
  static constexpr int64_t kWarm = kSteps - 20;
  int64_t seen = 0, steps = 0;
  std::string text;
};

void expect_nothing_allocated(Model& model, const Dataset& data, int64_t steps,
                              const std::string& on_nan = "") {
  model.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  const auto count = std::make_shared<CountPerStep>();
  model.fit(data, {.verbose = 0, .callbacks = {count}, .on_nan = on_nan});
  EXPECT_EQ(count->steps, steps);
  EXPECT_EQ(count->seen, 0) << count->text;
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
