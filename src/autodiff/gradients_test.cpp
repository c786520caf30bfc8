#include "plimsoll/autodiff.h"

#include <gtest/gtest.h>

#include "plimsoll/error.h"
#include "plimsoll/graph.h"
#include "plimsoll/ops.h"
#include "plimsoll/program.h"

namespace plimsoll {
namespace {

double run_scalar(const Graph& g, double x) {
  Program p = Program::compile(g);
  const Tensor in = Tensor::full(DType::f64, {}, x);
  return p(std::span(&in, 1))[0].item();
}

TEST(Gradients, SumContributionsFromEveryUse) {
  Graph g;
  const Tensor x = g.input("x", DType::f64, {});
  g.output("dx", gradients(x * x + x, std::span(&x, 1))[0]);
  EXPECT_DOUBLE_EQ(run_scalar(g, 3.0), 7.0);
}

TEST(Gradients, CanBeDifferentiatedAgain) {
  Graph g;
  const Tensor x = g.input("x", DType::f64, {});
  Tensor y = x * x * x * x;
  for (int i = 0; i < 3; ++i) y = gradients(y, std::span(&x, 1))[0];
  g.output("d3x", y);
  EXPECT_DOUBLE_EQ(run_scalar(g, 2.0), 48.0);  // (x^4)''' = 24 x
}

TEST(Gradients, AreZeroWhereNothingDepends) {
  Graph g;
  const Tensor x = g.input("x", DType::f64, {});
  const Tensor other = g.variable("v", Tensor::full(DType::f64, {2, 3}, 1.0));
  const Tensor d = gradients(x * x, std::span(&other, 1))[0];
  EXPECT_EQ(d.shape(), Shape({2, 3}));
  g.output("d", sum(d));
  EXPECT_EQ(run_scalar(g, 3.0), 0.0);
}

TEST(Gradients, DoNotFlowThroughIntegersOrComparisons) {
  Graph g;
  const Tensor x = g.input("x", DType::f64, {});
  const Tensor y = cast(cast(x, DType::i32), DType::f64) + cast(greater(x, scalar_like(x, 0)), DType::f64);
  g.output("dx", gradients(y, std::span(&x, 1))[0]);
  EXPECT_EQ(run_scalar(g, 3.0), 0.0);
}

TEST(Gradients, RefuseIntegersAndOtherGraphs) {
  Graph g, h;
  const Tensor x = g.input("x", DType::f32, {});
  const Tensor i = g.input("i", DType::i32, {});
  const Tensor z = h.input("z", DType::f32, {});
  EXPECT_THROW(gradients(x, std::span(&i, 1)), Error);
  EXPECT_THROW(gradients(i, std::span(&x, 1)), Error);
  EXPECT_THROW(gradients(x, std::span(&z, 1)), Error);
}

}  // namespace
}  // namespace plimsoll
