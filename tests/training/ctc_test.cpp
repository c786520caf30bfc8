// CTC against keras.losses.CTC and torch's ctc_loss (gradients): labels with and without repeats, one, and
// none at all.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "plimsoll/autodiff.h"
#include "plimsoll/error.h"
#include "plimsoll/graph.h"
#include "plimsoll/losses.h"
#include "plimsoll/model.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/program.h"

namespace plimsoll {
namespace {

constexpr int64_t kBatch = 4, kSteps = 6, kClasses = 4;
constexpr int32_t kLabels[] = {1, 2, 3, 2, 2, 0, 3, 0, 0, 0, 0, 0};
constexpr double kKeras[] = {3.4326579570770264, 6.59205436706543, 3.1446950435638428, 20.624357223510742};
// Of the mean loss, every seventh element.
constexpr double kTorchGradient[] = {0.02722037, 0.01493057,  -0.05829608, 0.00341596,  -0.0619026,
                                     0.02211878, -0.05731688, 0.18856989,  -0.05880755, 0.00477501,
                                     0.02064758, 0.00783753,  -0.2459127,  0.00552166};

Tensor logits() {
  const Tensor x = Tensor::empty(DType::f32, {kBatch, kSteps, kClasses});
  for (int64_t i = 0; i < kBatch * kSteps * kClasses; ++i)
    x.data<float>()[i] = static_cast<float>(2 * std::sin(1.7 * static_cast<double>(i) + 0.3));
  return x;
}
Tensor labels() { return Tensor::from<int32_t>(kLabels, {kBatch, 3}); }

TEST(Ctc, IsKeras) {
  const Tensor loss = CTC()->call(labels(), logits());
  ASSERT_EQ(loss.shape(), Shape{kBatch});
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(loss.data<float>()[i], kKeras[i], 1e-5 * kKeras[i]) << i;
}

TEST(Ctc, HasTorchsGradient) {
  Graph graph;
  const Tensor x = graph.input("x", DType::f32, {kBatch, kSteps, kClasses});
  const Tensor y = graph.input("y", DType::i32, {kBatch, 3});
  const Tensor loss = mean(CTC()->call(y, x));
  graph.output("dx", gradients(loss, std::span(&x, 1))[0]);
  const Tensor dx = Program::compile(graph)(std::array{logits(), labels()})[0];
  for (size_t i = 0; i < std::size(kTorchGradient); ++i)
    EXPECT_NEAR(dx.data<float>()[7 * i], kTorchGradient[i], 1e-5) << 7 * i;
}

TEST(Ctc, Trains) {
  set_random_seed(1);
  Sequential model({Input({kSteps, kClasses}), Dense(16, {.activation = "relu"}), Dense(kClasses)});
  model.compile({.optimizer = Adam(0.05), .loss = "ctc"});
  const History h = model.fit(logits(), labels(), {.epochs = 40, .verbose = 0});
  EXPECT_LT(h["loss"].back(), 0.5 * h["loss"].front());
}

TEST(Ctc, RefusesOtherShapes) {
  EXPECT_THROW(CTC()->call(labels(), labels()), Error);
  EXPECT_THROW(CTC()->call(logits(), logits()), Error);
}

}  // namespace
}  // namespace plimsoll
