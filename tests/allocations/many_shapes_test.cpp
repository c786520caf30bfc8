// A thousand shapes of a batch are a thousand Programs. Those last used are kept, in bytes that the account
// knows of; the process does not grow beyond them.
#include <gtest/gtest.h>

#include <cstdio>

#include "memory/account.h"
#include "memory/pool.h"
#include "memory/readings.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"
#include "plimsoll/model.h"
#include "plimsoll/ops.h"
#include "plimsoll/program.h"

namespace plimsoll::testing {
namespace {

constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kShapes = 1000, kAgain = 200;

int64_t resident() {
  pool::trim();
  return readings::process()->resident;
}

// Convolutions of one point and of several, with activations, and a dense layer: every kind of kernel there
// is.
Model network() {
  set_random_seed(1);
  Sequential model({Input({-1, -1, 4}), Conv2D(32, 1, {.activation = "relu"}),
                    Conv2D(16, 5, {.padding = "same", .activation = "relu"}), GlobalAveragePooling2D(),
                    Dense(3)});
  model.compile({.optimizer = "adam", .loss = "mse"});
  return model;
}

Tensor images(int64_t shape) { return Tensor::full(DType::f32, {1, 5 + shape % 40, 5 + shape / 40, 4}, 0.5); }

struct Growth {
  int64_t programs, resident;
};

template <class Call>
Growth over_shapes(const char* what, int64_t shapes, const Call& call) {
  const int64_t programs = account::used(Owner::programs), before = resident();
  for (int64_t shape = 0; shape < shapes; ++shape) call(images(shape));
  const Growth g{account::used(Owner::programs) - programs, resident() - before};
  std::printf("[  SHAPES  ] %s: %lld shapes, programs charged %.1f MiB, the process grew by %.1f MiB\n", what,
              static_cast<long long>(shapes), static_cast<double>(g.programs) / kMiB,
              static_cast<double>(g.resident) / kMiB);
  return g;
}

TEST(ManyShapes, OfPredictLeaveTheProcessBounded) {
  Model model = network();
  model.predict_on_batch({images(0)});
  const auto call = [&](const Tensor& x) { model.predict_on_batch({x}); };
  Growth g = over_shapes("predict", kShapes, call);
  EXPECT_LE(g.programs, 64 * kMiB);
  EXPECT_LE(g.resident, 96 * kMiB);
  g = over_shapes("predict again", kAgain, call);
  EXPECT_LE(g.programs, 1 * kMiB);
  EXPECT_LE(g.resident, 8 * kMiB);
}

TEST(ManyShapes, OfTrainingLeaveTheProcessBounded) {
  Model model = network();
  const Tensor y = Tensor::zeros(DType::f32, {1, 3});
  model.train_on_batch({images(0)}, {y});
  const auto call = [&](const Tensor& x) { model.train_on_batch({x}, {y}); };
  Growth g = over_shapes("train", kShapes, call);
  EXPECT_LE(g.programs, 64 * kMiB);
  EXPECT_LE(g.resident, 96 * kMiB);
  g = over_shapes("train again", kAgain, call);
  EXPECT_LE(g.programs, 1 * kMiB);
  EXPECT_LE(g.resident, 8 * kMiB);
}

// What a Program holds goes with it, code of oneDNN included: made a hundred times it takes what it takes
// once.
TEST(ManyShapes, OneProgramMadeAgainAndAgainLeavesNothing) {
  const auto make = [] {
    Graph g;
    const Tensor x = g.input("x", DType::f32, {4, 14, 14, 32});
    for (const int64_t window : {1, 5}) {
      const Tensor w = g.variable("w", Tensor::zeros(DType::f32, {window, window, 32, 32}));
      for (const auto& activation : {relu, sigmoid, tanh})
        g.output("y", activation(conv(x, w) + Tensor::zeros(DType::f32, {32})));
    }
    Program::compile(g);
  };
  for (int i = 0; i < 10; ++i) make();
  const int64_t before = resident();
  for (int i = 0; i < 100; ++i) make();
  EXPECT_LE(resident() - before, 2 * kMiB);
}

// Under a line too low for all of them, old ones go instead of a new one being refused.
TEST(ManyShapes, FitUnderALineThatHoldsAFew) {
  Model model = network();
  model.predict_on_batch({images(0)});
  const double first = model.predict_on_batch({images(1)})[0].copy().data<float>()[0];
  const int64_t held = account::used();
  account::set_limit(held + 4 * kMiB);
  for (int64_t shape = 0; shape < 100; ++shape)
    ASSERT_NO_THROW(model.predict_on_batch({images(shape)})) << shape;
  EXPECT_LE(account::used(), held + 4 * kMiB);
  EXPECT_EQ(model.predict_on_batch({images(1)})[0].data<float>()[0], first)
      << "made again, it gives the same";
  account::set_limit(account::kNoLimit);
}

}  // namespace
}  // namespace plimsoll::testing
