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

}  // namespace
}  // namespace plimsoll
