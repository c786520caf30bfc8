#include "passes/clusters.h"

#include <gtest/gtest.h>

#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

// {early, late} is entered by a node that comes after all others, and left by one that comes before.
TEST(Clusters, AWayBackThroughALaterNodeIsSeen) {
  Graph g;
  const Tensor x = g.input("x", DType::f32, {3}), y = g.input("y", DType::f32, {3});
  const Tensor a = exp(x), early = exp(y), b = a + early, between = sqrt(a), late = tanh(between);
  g.output("b", b);
  g.output("late", late);
  ASSERT_EQ(g.nodes().size(), 5u);
  Clusters clusters(g, std::vector<bool>(5, true), std::vector<bool>(5, false));
  EXPECT_TRUE(clusters.merge(1, 4));
  EXPECT_FALSE(clusters.merge(0, 2)) << "{a, b} needs {early, late}, which needs what lies between";
  EXPECT_TRUE(clusters.merge(0, 3));
}

}  // namespace
}  // namespace plimsoll
