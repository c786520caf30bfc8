#include "exec/nonfinite.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "plimsoll/ops.h"
#include "plimsoll/program.h"

namespace plimsoll {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor row(std::initializer_list<float> values) {
  return Tensor::from<float>(std::vector<float>(values), Shape{1, std::ssize(values)});
}

// y = log(softmax(x + mask) - 1), in a layer each; the mask is infinite on purpose.
Graph masked_graph() {
  Graph g;
  const Tensor x = g.input("x", DType::f32, {1, 4});
  g.set_layer("attention");
  const Tensor masked = softmax(x + g.constant(row({0, 0, 0, -kInf})), -1);
  g.set_layer("head");
  const Tensor y = log(matmul(masked, g.constant(Tensor::full(DType::f32, {4, 1}, 1.0))) - 2.0);
  g.output("y", y);
  g.output("finite", all(isfinite(y)));
  return g;
}

TEST(NonFinite, NamesTheFirstOpThatMadeItAndWhatItRead) {
  for (const bool passes : {true, false}) {
    CompileOptions options;
    if (!passes) options.skip_passes = {"all"};
    Program program = Program::compile(masked_graph(), options);
    const Tensor x = row({1, 2, 3, 4});
    EXPECT_EQ(program(std::span(&x, 1))[1].item(), 0);
    const NonFinite found = program.find_nonfinite(std::span(&x, 1), 1);
    EXPECT_EQ(found.layer, "head") << found.str();
    EXPECT_EQ(found.op.rfind("log", 0), 0u) << found.str();
    EXPECT_EQ(found.result.nans, 1) << found.str();
    ASSERT_FALSE(found.inputs.empty());
    EXPECT_NEAR(found.inputs[0].least, -1.0, 1e-6) << found.str();
    EXPECT_LT(found.inputs[0].first_bad, 0);
  }
}

TEST(NonFinite, NamesWhatTheStepWasGiven) {
  Program program = Program::compile(masked_graph());
  const Tensor x = row({1, 2, NAN, 4});
  const NonFinite found = program.find_nonfinite(std::span(&x, 1), 1);
  EXPECT_EQ(found.op, "");
  EXPECT_EQ(found.result.name, "batch x");
  EXPECT_EQ(found.result.nans, 1);
  EXPECT_EQ(found.result.first_bad, 2);
  EXPECT_EQ(found.result.least, 1);
  EXPECT_EQ(found.result.most, 4);
}

TEST(NonFinite, FindsNothingWhereAllIsFinite) {
  Graph g;
  const Tensor x = g.input("x", DType::f32, {1, 4});
  g.output("finite", all(isfinite(exp(x))));
  Program program = Program::compile(g);
  const Tensor x_value = row({1, 2, 3, 4});
  EXPECT_EQ(program.find_nonfinite(std::span(&x_value, 1), 0).result.name, "");
}

// The second run leaves variables as they are, those that a first one would have updated too.
TEST(NonFinite, LooksWithoutChangingAVariable) {
  const Tensor storage = Tensor::full(DType::f32, {4}, 2.0);
  Graph g;
  const Tensor x = g.input("x", DType::f32, {4});
  const Tensor v = g.variable("v", storage);
  g.update(v, v * 3.0);
  g.output("finite", all(isfinite(log(x - 5.0) + v)));
  Program program = Program::compile(g);
  const Tensor x_value = Tensor::full(DType::f32, {4}, 1.0);
  const NonFinite found = program.find_nonfinite(std::span(&x_value, 1), 0);
  EXPECT_EQ(found.op.rfind("log", 0), 0u) << found.str();
  EXPECT_EQ(storage.data<float>()[0], 2.0f);
}

TEST(NonFinite, RangesAreCountedInEveryFloatType) {
  const std::vector<float> values = {-3, kInf, 7, NAN, -kInf};
  const Tensor wide = Tensor::from<float>(values, Shape{5});
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const Tensor t = cast(wide, dtype);
    const ValueRange r = range_of(t.type(), t.data());
    EXPECT_EQ(r.nans, 1);
    EXPECT_EQ(r.infinite, 2);
    EXPECT_EQ(r.first_bad, 1);
    EXPECT_EQ(r.least, -3);
    EXPECT_EQ(r.most, 7);
  }
  const Tensor whole = Tensor::full(DType::i32, {3}, 1);
  EXPECT_LT(range_of(whole.type(), whole.data()).first_bad, 0);
}

}  // namespace
}  // namespace plimsoll
