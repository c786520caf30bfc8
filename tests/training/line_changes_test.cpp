// The line of the process drawn elsewhere while fit() runs, and a system that is short of memory: the next
// step is planned anew, with the same weights bit by bit.
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "line_cases/generated.h"
#include "memory/account.h"
#include "memory/line.h"
#include "memory/pool.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"
#include "plimsoll/model.h"

namespace plimsoll {
namespace {

constexpr int64_t kBatch = 512, kRows = 6 * kBatch;

Model deep() {
  set_random_seed(5);
  Sequential m({Input({32})});
  for (int i = 0; i < 12; ++i) m.add(Dense(128, {.activation = "tanh"}));
  m.add(Dropout(0.2));
  m.add(Dense(4));
  m.compile({.optimizer = "adam", .loss = "mse", .threads = 2});
  return m;
}

class LineChanges : public ::testing::Test {
 protected:
  LineChanges() {  // what other tests left would give room later
    while (account::reclaim()) {
    }
    pool::trim();
  }
  ~LineChanges() override {
    line::set_pressure(nullptr);
    set_memory_limit(INT64_MAX);
  }

  // What the engine holds, by a measurement of now.
  static int64_t held() {
    set_memory_limit(int64_t{1} << 50);
    return memory_use().engine;
  }

  // `at` is called after each step with its number; notes the arena after each.
  std::vector<char> train(const std::function<void(int64_t)>& at) {
    Model m = deep();
    arena_.clear();
    const CallbackPtr call = LambdaCallback({.on_train_batch_end = [&](int64_t step, const Logs&) {
      arena_.push_back(account::used(Owner::arena));
      at(step);
    }});
    m.fit(Tensor::full(DType::f32, {kRows, 32}, 0.25), Tensor::zeros(DType::f32, {kRows, 4}),
          {.batch_size = kBatch, .verbose = 0, .callbacks = {call}, .seed = 3});
    return testing::bytes_of(m);
  }

  std::vector<int64_t> arena_;
};

TEST_F(LineChanges, ALowerAndAHigherOneAreKeptFromTheNextStepOn) {
  const std::vector<char> want = train([](int64_t) {});
  const int64_t whole = arena_[0];
  int64_t line = 0;
  const auto draw = [&](int64_t bytes) { set_memory_limit(line = bytes); };
  const std::vector<char> got = train([&](int64_t step) {
    if (step == 1) draw(held() - whole / 3);
    if (step == 2) {
      EXPECT_LE(account::used(), line);
      std::thread([&] { draw(line + 2 * whole); }).join();
    }
  });
  EXPECT_EQ(got, want);
  EXPECT_EQ(arena_[1], whole);
  EXPECT_LE(arena_[2], whole - whole / 4);
  EXPECT_EQ(arena_[3], whole);
}

TEST_F(LineChanges, OneThatCannotBeKeptEndsTheFitBetweenTwoSteps) {
  Model m = deep();
  std::vector<char> after;
  const CallbackPtr call = LambdaCallback({.on_train_batch_end = [&](int64_t, const Logs&) {
    after = testing::bytes_of(m);
    set_memory_limit(held() - account::used(Owner::arena));
  }});
  const Tensor x = Tensor::full(DType::f32, {kRows, 32}, 0.25), y = Tensor::zeros(DType::f32, {kRows, 4});
  try {
    m.fit(x, y, {.batch_size = kBatch, .verbose = 0, .callbacks = {call}});
    FAIL() << "expected MemoryLineError";
  } catch (const MemoryLineError& e) {
    EXPECT_GT(e.numbers().least, e.numbers().line);
    EXPECT_LT(e.numbers().largest_batch, kBatch);
  }
  EXPECT_EQ(testing::bytes_of(m), after);
  set_memory_limit(INT64_MAX);
  m.fit(x, y, {.batch_size = kBatch, .verbose = 0});
}

line::Pressure none() { return {}; }
line::Pressure no_room() { return {.room = 1 << 20, .limit = int64_t{1} << 30, .stalled = 0}; }
line::Pressure stalled() { return {.stalled = 40}; }

TEST_F(LineChanges, ASystemShortOfMemoryGetsSomeBack) {
  const std::vector<char> want = train([](int64_t) {});
  const int64_t whole = arena_[0];
  for (const auto reading : {no_room, stalled}) {
    const std::vector<char> got =
        train([&](int64_t step) { line::set_pressure(step == 1 ? reading : none); });
    EXPECT_EQ(got, want);
    EXPECT_EQ(arena_[1], whole);
    EXPECT_LE(arena_[2], whole - whole / 4 + 4096);
    EXPECT_EQ(arena_[5], arena_[2]) << "it stays so, but asks for no more";
  }
}

// However short it is, it goes on with the least it can do with.
TEST_F(LineChanges, ASystemThatStaysShortOfMemoryEndsNothing) {
  line::set_pressure(stalled);
  train([](int64_t) {});
  EXPECT_LT(arena_[5], arena_[0]);
}

}  // namespace
}  // namespace plimsoll
