// A new op is one new file: the list below src/ops is made from file names, here with one folder more.
#include <gtest/gtest.h>

#include "graph/op.h"
#include "plimsoll/autodiff.h"
#include "plimsoll/ops.h"
#include "plimsoll/program.h"

namespace plimsoll {
namespace {

TEST(NewOp, IsFoundRunsAndDifferentiates) {
  const OpDef& triple = get_op("triple");
  const Tensor two = Tensor::full(DType::f32, {5}, 2);
  EXPECT_EQ(apply1(triple, {two}).data<float>()[4], 6);

  Graph g;
  const Tensor x = g.input("x", DType::f32, {5});
  g.output("dx", gradients(square(apply1(triple, {x})), std::span(&x, 1))[0]);
  EXPECT_EQ(Program::compile(g)(std::span(&two, 1))[0].data<float>()[0], 36);  // 18 x
}

TEST(NewOp, StandsInTheTextForm) {
  const Graph g = Graph::parse("graph { %0 = input \"x\" float32(2)\n %1 = triple(%0)\n output \"y\" %1 }");
  EXPECT_EQ(g.nodes().size(), 1u);
}

}  // namespace
}  // namespace plimsoll
