// The line of one fit(): its own, whoever else fits at the same time.
#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "memory/account.h"
#include "memory/budget.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"
#include "plimsoll/model.h"
#include "support/compare.h"

namespace plimsoll {
namespace {

constexpr int64_t kMiB = 1 << 20;

Sequential wide_model() {
  Sequential model({Input({64}), Dense(256, {.activation = "relu"}), Dense(4)});
  model.compile({.optimizer = "adam", .loss = "mse", .threads = 1});
  return model;
}

Dataset data(int64_t rows) {
  return Dataset::arrays({Tensor::zeros(DType::f32, {rows, 64})}, {Tensor::zeros(DType::f32, {rows, 4})})
      .batch(32)
      .prefetch(2);
}

// What one fit() saw of its line.
struct Seen {
  int64_t limit = 0, peak = 0;
  bool refused = false;  // 20 MiB more
};

// Trains under `line`; in each step asks for 20 MiB more.
Seen fit_under(Sequential& model, const std::string& line, std::barrier<>& both) {
  Seen seen;
  const CallbackPtr ask = LambdaCallback({.on_train_begin = [&] { both.arrive_and_wait(); },
                                          .on_train_batch_end =
                                              [&](int64_t, const Logs&) {
                                                seen.limit = Budget::current()->limit();
                                                try {
                                                  Tensor::zeros(DType::u8, {20 * kMiB});
                                                } catch (const Error& e) {
                                                  seen.refused = e.kind() == ErrorKind::out_of_memory;
                                                }
                                                seen.peak = Budget::current()->peak();
                                              }});
  model.fit(data(256), {.epochs = 4, .verbose = 0, .callbacks = {ask}, .memory = line});
  return seen;
}

TEST(MemoryLine, TwoFitsAtATimeEachHaveTheirOwn) {
  Sequential narrow = wide_model(), roomy = wide_model();
  std::barrier both(2);
  Seen small, large;
  std::thread other([&] { small = fit_under(narrow, "12MiB", both); });
  large = fit_under(roomy, "40MiB", both);
  other.join();
  EXPECT_EQ(small.limit, 12 * kMiB);
  EXPECT_EQ(large.limit, 40 * kMiB);
  EXPECT_TRUE(small.refused);
  EXPECT_FALSE(large.refused);
  EXPECT_LE(small.peak, 12 * kMiB);
  EXPECT_GT(large.peak, 20 * kMiB);
  EXPECT_LE(large.peak, 40 * kMiB);
  EXPECT_EQ(account::limit(), account::kNoLimit);
}

TEST(MemoryLine, LeavesTheProcessLineToTheUser) {
  Sequential model = wide_model();
  const int64_t line = account::used() + 500 * kMiB;
  const CallbackPtr draw = LambdaCallback({.on_train_begin = [&] { set_memory_limit(line); }});
  model.fit(data(64), {.verbose = 0, .callbacks = {draw}, .memory = "100MiB"});
  EXPECT_EQ(account::limit(), line);
  account::set_limit(account::used() + 100'000);
  EXPECT_THROW(wide_model().fit(data(64), {.verbose = 0, .memory = "100MiB"}), Error);
  account::set_limit(account::kNoLimit);
}

TEST(MemoryLine, CountsTheModelItsStateAndTheArraysGivenEachOnce) {
  Sequential model = wide_model();
  const Tensor x = Tensor::zeros(DType::f32, {65536, 64});  // 16 MiB
  const auto used = [&](const Dataset& d, std::optional<Dataset> validation) {
    int64_t bytes = 0;
    const CallbackPtr look = LambdaCallback({.on_train_begin = [&] { bytes = Budget::current()->used(); }});
    FitArgs args{.verbose = 0, .callbacks = {look}, .steps_per_epoch = 1, .memory = "100MiB"};
    args.validation_data = std::move(validation);
    args.validation_steps = 1;
    model.fit(d, args);
    return bytes;
  };
  const Tensor y = Tensor::zeros(DType::f32, {65536, 4});
  const int64_t small = used(data(64), {});
  const int64_t weights_and_state = 3 * 4 * model.count_params();
  EXPECT_GT(small, weights_and_state);
  EXPECT_LT(small, weights_and_state + 4 * kMiB);
  const Dataset large = Dataset::arrays({x}, {y}).batch(32);
  EXPECT_GE(used(large, {}), small + 16 * kMiB);
  EXPECT_LT(used(large, large), small + 18 * kMiB);
  EXPECT_EQ(used(data(64), {}), used(data(64), {}));  // nothing of a fit() stays behind
}

TEST(MemoryLine, BytesOfOthersDoNotCount) {
  const Tensor mine = Tensor::zeros(DType::u8, {50 * kMiB});
  Sequential model = wide_model();
  model.fit(data(64), {.verbose = 0, .memory = "12MiB"});
  const std::vector<Tensor> kept = {model.predict(Tensor::zeros(DType::f32, {1024 * 1024, 64}))};  // 16 MiB
  model.fit(data(64), {.verbose = 0, .memory = "12MiB"});
}

TEST(MemoryLine, BatchesReadAheadCount) {
  Sequential model = wide_model();
  const Dataset d =
      Dataset::arrays({Tensor::zeros(DType::f32, {40960, 64})}, {Tensor::zeros(DType::f32, {40960, 4})});
  const auto peak = [&](int64_t ahead) {
    int64_t bytes = 0;
    const CallbackPtr look = LambdaCallback(
        {.on_train_batch_end = [&](int64_t, const Logs&) { bytes = Budget::current()->peak(); }});
    model.fit(d.batch(4096).prefetch(ahead), {.verbose = 0, .callbacks = {look}, .memory = "300MiB"});
    return bytes;
  };
  const int64_t without = peak(0);
  EXPECT_GT(peak(8), without + 2 * kMiB);  // a batch has 1.06 MiB
}

TEST(MemoryLine, ARefusalLeavesNothingBehind) {
  Sequential model = wide_model();
  const int64_t used = account::used();
  EXPECT_THROW(model.fit(data(64), {.verbose = 0, .memory = "200KiB"}), Error);
  EXPECT_EQ(Budget::current(), nullptr);
  EXPECT_LE(account::used(), used);
  model.fit(data(64), {.verbose = 0, .memory = "12MiB"});
  model.fit(data(64), {.verbose = 0});
}

}  // namespace
}  // namespace plimsoll
