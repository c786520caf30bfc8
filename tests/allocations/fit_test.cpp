// A step of fit() allocates nothing, sums of loss and metrics included, where no callback wants the logs.
#include <gtest/gtest.h>

#include "allocations/hooks.h"
#include "plimsoll/model.h"

namespace plimsoll::testing {
namespace {

class CountPerStep final : public Callback {
 public:
  bool wants_batch_logs() const override { return false; }
  void on_train_batch_begin(int64_t) override { start_counting(); }
  void on_train_batch_end(int64_t batch, const Logs&) override {
    for (const auto& [library, count] : stop_counting()) {
      if (batch >= kWarm && !library.starts_with("libdnnl")) seen += count;
    }
    ++steps;
  }
  static constexpr int64_t kWarm = 2;
  int64_t seen = 0, steps = 0;
};

TEST(FitLoop, AllocatesNothingInAStep) {
  Sequential model({Input({16}), Dense(8, {.activation = "relu"}), Dense(3, {.activation = "softmax"})});
  model.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  const auto count = std::make_shared<CountPerStep>();
  model.fit(Tensor::zeros(DType::f32, {256, 16}), Tensor::zeros(DType::i32, {256}),
            {.batch_size = 8, .verbose = 0, .callbacks = {count}});
  EXPECT_EQ(count->steps, 32);
  EXPECT_EQ(count->seen, 0);
}

}  // namespace
}  // namespace plimsoll::testing
