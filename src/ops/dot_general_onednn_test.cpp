// oneDNN's products against our own, on sizes that it is taken for. Where the processor has no such kernel,
// says so.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "plimsoll/graph.h"
#include "plimsoll/ops.h"
#include "plimsoll/program.h"

namespace plimsoll {
namespace {

Tensor wave(const Shape& shape, double step) {
  Tensor t = Tensor::empty(DType::f32, shape);
  for (int64_t i = 0; i < shape.elements(); ++i)
    t.data<float>()[i] = static_cast<float>(std::sin(step * static_cast<double>(i)));
  return t;
}

void compare(const Graph& g, const std::vector<Tensor>& in, const std::string& what) {
  CompileOptions plain;
  plain.reference_kernels = true;
  Program fast = Program::compile(g), slow = Program::compile(g, plain);
  if (fast.text().find("onednn") == std::string::npos) std::printf("not on oneDNN here: %s\n", what.c_str());
  const Tensor a = fast(in)[0], b = slow(in)[0];
  for (int64_t i = 0; i < a.shape().elements(); ++i)
    ASSERT_NEAR(a.data<float>()[i], b.data<float>()[i], 2e-4) << what << " " << i;
}

TEST(DotGeneral, LargeProductsAgreeWithTheReferenceInEveryOrientation) {
  for (const bool a_first : {false, true}) {
    for (const bool b_last : {false, true}) {
      Graph g;
      const Tensor a = g.input("a", DType::f32, a_first ? Shape{130, 150} : Shape{150, 130});
      const Tensor b = g.input("b", DType::f32, b_last ? Shape{170, 130} : Shape{130, 170});
      g.output("c", dot_general(a, b, {a_first ? 0 : 1}, {b_last ? 1 : 0}));
      compare(g, {wave(a.shape(), 0.7), wave(b.shape(), 0.3)}, a_first ? "a transposed" : "a plain");
    }
  }
}

TEST(DotGeneral, SeveralAxesAreReadAsOne) {
  Graph g;
  const Tensor a = g.input("a", DType::f32, {20, 7, 130}), b = g.input("b", DType::f32, {20, 7, 190});
  g.output("c", dot_general(a, b, {0, 1}, {0, 1}));
  compare(g, {wave(a.shape(), 0.7), wave(b.shape(), 0.3)}, "two contracted axes");
}

TEST(Dense, LargeLayersAgreeWithTheReferenceForEveryActivation) {
  for (const char* activation : {"linear", "relu", "sigmoid", "tanh", "gelu", "gelu_tanh", "silu"}) {
    Graph g;
    const Tensor x = g.input("x", DType::f32, {3, 50, 130}), k = g.input("k", DType::f32, {130, 170});
    const Tensor b = g.input("b", DType::f32, {170});
    g.output("y", dense(x, k, b, activation));
    compare(g, {wave(x.shape(), 0.7), wave(k.shape(), 0.3), wave(b.shape(), 0.1)}, activation);
  }
}

// One NaN among the weights reaches every result that it belongs to, and none that it does not.
void expect_nan_in_last_channel(const Graph& g, std::vector<Tensor> in, const std::string& what) {
  const int64_t weights = in[1].shape().elements(), channels = in[1].shape()[in[1].rank() - 1];
  in[1].data<float>()[weights - 1] = NAN;
  const Tensor y = Program::compile(g)(in)[0];
  for (int64_t i = 0; i < y.shape().elements(); ++i)
    ASSERT_EQ(std::isnan(y.data<float>()[i]), i % channels == channels - 1) << what << " " << i;
}

TEST(OnednnActivation, NanStaysNan) {
  for (const char* activation : {"linear", "relu", "sigmoid", "tanh", "gelu", "gelu_tanh", "silu"}) {
    Graph g;
    const Tensor x = g.input("x", DType::f32, {150, 130}), k = g.input("k", DType::f32, {130, 170});
    const Tensor b = g.input("b", DType::f32, {170});
    g.output("y", dense(x, k, b, activation));
    expect_nan_in_last_channel(g, {wave(x.shape(), 0.7), wave(k.shape(), 0.3), wave(b.shape(), 0.1)},
                               activation);
    for (const int64_t window : {1, 3}) {
      Graph c;
      const Tensor image = c.input("x", DType::f32, {4, 14, 14, 64});
      const Tensor kernel = c.input("k", DType::f32, {window, window, 64, 64});
      const Tensor bias = c.input("b", DType::f32, {64});
      c.output("y", conv_bias(image, kernel, bias, {.strides = {1, 1}}, activation));
      expect_nan_in_last_channel(
          c, {wave(image.shape(), 0.7), wave(kernel.shape(), 0.3), wave(bias.shape(), 0.1)},
          std::string(activation) + " over " + std::to_string(window));
    }
  }
}

}  // namespace
}  // namespace plimsoll
