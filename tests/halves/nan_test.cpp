// A convolution with a ReLU behind it hides no NaN. On x86 infinity times 0 has the sign bit.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "plimsoll/ops.h"
#include "plimsoll/program.h"
#include "support/fill.h"

namespace plimsoll::testing {
namespace {

class Nan : public ::testing::TestWithParam<DType> {};

TEST_P(Nan, PassesAConvolutionAndItsRelu) {
  Graph graph;
  const Tensor x = graph.input("x", GetParam(), {2, 14, 14, 32});
  const Tensor kernel = graph.input("kernel", GetParam(), {3, 3, 32, 32});
  const Tensor bias = graph.input("bias", GetParam(), {32});
  graph.output("y", relu(conv(x, kernel) + bias));
  const std::vector<Tensor> y = Program::compile(graph)(std::vector<Tensor>{
      Tensor::full(x.dtype(), x.shape(), std::numeric_limits<double>::infinity()),
      Tensor::full(x.dtype(), kernel.shape(), 0), Tensor::full(x.dtype(), bias.shape(), 1)});
  int64_t hidden = 0;
  for (int64_t i = 0; i < y[0].shape().elements(); ++i) hidden += !std::isnan(element(y[0], i));
  EXPECT_EQ(hidden, 0);
}

INSTANTIATE_TEST_SUITE_P(Floats, Nan, ::testing::Values(DType::bf16, DType::f16, DType::f32),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace plimsoll::testing
