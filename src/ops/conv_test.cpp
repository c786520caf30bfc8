// The ops around convolution as a user sees them: gradients of first and second order, and fused forms
// against the ops they stand for. The kernels themselves are tested in device/cpu/conv_test.cpp.
#include "ops/conv.h"

#include <gtest/gtest.h>

#include "ops/gradient_testing.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

using namespace testing_gradients;

TEST(ConvOp, FirstAndSecondGradientsMatchDifferences) {
  for (const ConvCase& c : conv_cases()) {
    if (c.x.elements() == 0) continue;
    SCOPED_TRACE(c.x.str() + " " + c.kernel.str());
    const Function f = [&](const std::vector<Tensor>& in) { return conv(in[0], in[1], c.options); };
    expect_gradients(f, {noise(c.x, 1), noise(c.kernel, 2)});
    if (c.x.elements() < 130) expect_second_gradients(f, {noise(c.x, 1), noise(c.kernel, 2)});
  }
}

TEST(ConvOp, BiasAndActivationHaveGradients) {
  for (const std::string_view act : {"linear", "relu", "sigmoid", "tanh", "gelu", "gelu_tanh", "silu"}) {
    SCOPED_TRACE(std::string(act));
    const Function f = [&](const std::vector<Tensor>& in) {
      return conv_bias(in[0], in[1], in[2], {.strides = {2, 1}, .pad_low = {1, 1}, .pad_high = {0, 1}}, act);
    };
    expect_gradients(f, {noise({2, 5, 4, 3}, 1), noise({3, 2, 3, 4}, 2), noise({4}, 3)}, 2e-6);
  }
}

std::vector<Tensor> inputs_of(const OpCase& c, DType dtype) {
  std::vector<Tensor> in;
  for (const InputCase& i : c.in)
    in.push_back(noise(i.shape, static_cast<unsigned>(in.size()), -1, 1, dtype));
  return in;
}

double largest_difference(const Tensor& a, const Tensor& b) {
  const Tensor d = max(absolute(cast(a, DType::f64) - cast(b, DType::f64)));
  return d.item() / std::max(1e-30, max(absolute(cast(b, DType::f64))).item());
}

TEST(ConvBiasOp, EqualsTheOpsItStandsFor) {
  const OpDef& op = get_op("conv_bias");
  for (const OpCase& c : op.cases()) {
    if (c.in[0].shape.elements() == 0) continue;
    SCOPED_TRACE(c.in[0].shape.str() + " " + c.attrs.string("activation"));
    for (const DType dtype : {DType::f32, DType::f64}) {
      const std::vector<Tensor> in = inputs_of(c, dtype);
      const Attrs attrs = complete_attrs(op, c.attrs);
      EXPECT_LE(largest_difference(plimsoll::apply(op, in, attrs)[0], op.decompose(in, attrs)[0]),
                op.tolerance);
    }
  }
}

TEST(ConvBiasOp, ScaleAndResidualHaveGradients) {
  const Function f = [](const std::vector<Tensor>& in) {
    Attrs attrs = conv_attrs(ConvOptions{}, 2);
    attrs.set("scale", true);
    attrs.set("residual", true);
    attrs.set("activation", std::string("gelu"));
    return plimsoll::apply(get_op("conv_bias"), in, attrs)[0];
  };
  expect_gradients(f, {noise({2, 4, 4, 3}, 1), noise({3, 3, 3, 5}, 2), noise({5}, 3), noise({5}, 4),
                       noise({2, 2, 2, 5}, 5)});
}

TEST(ConvOp, EmptyBatchRuns) {
  const Tensor y = conv(Tensor::zeros(DType::f32, {0, 5, 5, 3}), noise({3, 3, 3, 4}, 1, -1, 1, DType::f32));
  EXPECT_EQ(y.shape(), (Shape{0, 3, 3, 4}));
}

TEST(ConvOp, SamePaddingIsKerass) {
  EXPECT_EQ(same_padding(28, 3, 1), (std::pair<int64_t, int64_t>{1, 1}));
  EXPECT_EQ(same_padding(224, 7, 2), (std::pair<int64_t, int64_t>{2, 3}));
  EXPECT_EQ(same_padding(5, 2, 2), (std::pair<int64_t, int64_t>{0, 1}));
  EXPECT_EQ(same_padding(6, 2, 3), (std::pair<int64_t, int64_t>{0, 0}));
  EXPECT_EQ(same_padding(10, 3, 1, 4), (std::pair<int64_t, int64_t>{4, 4}));
  EXPECT_THROW(same_padding(5, 0, 1), Error);
}

TEST(ConvOp, OperandsOfOneTypeAreExpected) {
  EXPECT_THROW(plimsoll::apply(get_op("conv"), std::vector{noise({1, 3, 3, 1}, 1),
                                                           noise({1, 1, 1, 1}, 1, -1, 1, DType::f32)}),
               Error);
}

}  // namespace
}  // namespace plimsoll
