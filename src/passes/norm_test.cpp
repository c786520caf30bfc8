// Passes around convolution, normalisation and pooling: results with and without them, and that they do
// happen.
#include <gtest/gtest.h>

#include <functional>

#include "ops/gradient_testing.h"
#include "passes/graph_testing.h"
#include "passes/passes.h"

namespace plimsoll {
namespace {

using testing_gradients::noise;

// y = f(inputs), its weighed sum, and the gradients of that.
Graph training(const testing_gradients::Function& f, const std::vector<Tensor>& at) {
  Graph graph;
  std::vector<Tensor> xs;
  for (const Tensor& t : at) xs.push_back(graph.input(concat("x", xs.size()), t.dtype(), t.shape()));
  const Tensor y = f(xs);
  graph.output("y", y);
  const Tensor loss = sum(square(y) * noise(y.shape(), 9));
  for (const Tensor& d : gradients(loss, xs)) graph.output(concat("d", graph.outputs().size()), d);
  return graph;
}

void expect_same(const Graph& graph, const std::vector<Tensor>& at) {
  CompileOptions plain;
  plain.skip_passes = {"all"};
  Program with = Program::compile(graph), without = Program::compile(graph, plain);
  const std::vector<Tensor> a = with(at), b = without(at);
  for (size_t i = 0; i < a.size(); ++i) {
    const double scale = max(absolute(b[i])).item() + 1e-30;
    EXPECT_LE(max(absolute(a[i] - b[i])).item() / scale, 1e-12) << "output " << i;
  }
}

// Keras asks for the moments first, for its moving averages, and normalises later.
TEST(PassStatistics, MomentsOfWhatIsNormalisedComeFromTheNormalisation) {
  const std::vector<Tensor> at{noise({3, 4, 4, 5}, 1), noise({5}, 2, 0.5, 2), noise({5}, 3)};
  Graph graph;
  std::vector<Tensor> xs;
  for (const Tensor& t : at) xs.push_back(graph.input(concat("x", xs.size()), t.dtype(), t.shape()));
  const Ints axes = {0, 1, 2};
  graph.output("mean", mean(xs[0], axes, true) * 2.0);
  graph.output("variance", variance(xs[0], axes) + 1.0);
  const Tensor y = batch_norm(xs[0], xs[1], xs[2], 1e-3)[0];
  for (const Tensor& d : gradients(sum(square(y)), xs)) graph.output(concat("d", graph.outputs().size()), d);
  EXPECT_EQ(count(run_passes(graph, std::vector<std::string>{"fuse"}), "batch_norm"), 1);
  EXPECT_EQ(count(run_passes(graph, std::vector<std::string>{"fuse"}), "reduce_sum"), 0);
  EXPECT_GT(count(run_passes(graph, std::vector<std::string>{"fuse", "statistics"}), "reduce_sum"), 1);
  expect_same(graph, at);
}

// A layer that writes its activation as an op of its own, as Keras's do.
TEST(PassRelu, TheMaskReadsTheResultSoThatTheActivationJoins) {
  const std::vector<Tensor> at{noise({2, 6, 6, 3}, 1), noise({3, 3, 3, 4}, 2), noise({4}, 3)};
  const Graph graph = training(
      [](const std::vector<Tensor>& in) {
        return max_pool(relu(conv(in[0], in[1]) + in[2]), {.window = {2, 2}});
      },
      at);
  const Graph joined = run_passes(graph, std::vector<std::string>{"fuse"});
  EXPECT_EQ(count(joined, "relu"), 0);
  EXPECT_EQ(count(joined, "conv_bias"), 1);
  EXPECT_EQ(count(run_passes(graph, std::vector<std::string>{"fuse", "relu"}), "relu"), 1);
  expect_same(graph, at);
}

TEST(PassBias, TheGradientOfAKernelBringsThatOfTheBiasAlong) {
  const std::vector<Tensor> at{noise({2, 6, 6, 3}, 1), noise({3, 3, 3, 4}, 2), noise({1, 1, 1, 4}, 3)};
  const Graph graph = training(
      [](const std::vector<Tensor>& in) {
        return max_pool(relu(conv(in[0], in[1]) + in[2]), {.window = {2, 2}});
      },
      at);
  EXPECT_EQ(count(run_passes(graph, std::vector<std::string>{"fuse"}), "reduce_sum"), 0);
  EXPECT_EQ(count(run_passes(graph, std::vector<std::string>{"fuse", "bias"}), "reduce_sum"), 1);
  expect_same(graph, at);
}

TEST(PassPool, WhatStandsBehindAConvolutionGoesBehindThePooling) {
  const std::vector<Tensor> at{noise({2, 7, 6, 3}, 1), noise({3, 3, 3, 4}, 2), noise({4}, 3)};
  const std::vector<std::string> without = {"fuse", "match"};
  for (const Ints& strides : {Ints{2, 2}, Ints{1, 1}}) {
    const Graph graph = training(
        [&](const std::vector<Tensor>& in) {
          return max_pool(relu(conv(in[0], in[1]) + in[2]),
                          {.window = {2, 3}, .strides = strides, .pad_low = {1, 1}, .pad_high = {0, 2}});
        },
        at);
    const Graph moved = run_passes(graph, without, Joining());
    const auto maker_of = [&](const Graph& g, std::string_view op) {
      for (NodeId n = 0; n < g.nodes().size(); ++n)
        if (g.is(n, op)) return g.node(g.value(g.node(n).inputs[0]).producer).op->name;
      return std::string_view();
    };
    EXPECT_EQ(maker_of(run_passes(graph, without), "max_pool"), "relu");
    EXPECT_EQ(maker_of(moved, "max_pool"), "conv");
    EXPECT_EQ(count(moved, "relu"), 1);
    EXPECT_EQ(count(run_passes(graph, without), "reduce_sum"), 0);
    EXPECT_EQ(count(moved, "reduce_sum"), 1);
    EXPECT_EQ(maker_of(moved, "max_pool_grad"), "where");
    CompileOptions plain;
    plain.skip_passes = {"all"};
    const std::vector<Tensor> a = Program::compile(moved, plain)(at), b = Program::compile(graph, plain)(at);
    for (size_t i = 0; i < a.size(); ++i)
      EXPECT_LE(max(absolute(a[i] - b[i])).item() / (max(absolute(b[i])).item() + 1e-30), 1e-12) << i;
  }
}

// One who reads what stands before the pooling has it made there.
TEST(PassPool, LeavesWhatOthersRead) {
  const std::vector<Tensor> at{noise({2, 7, 6, 3}, 1), noise({3, 3, 3, 4}, 2), noise({4}, 3)};
  Graph graph;
  const Tensor x = graph.input("x", at[0].dtype(), at[0].shape());
  const Tensor y = relu(conv(x, graph.constant(at[1])) + graph.constant(at[2]));
  graph.output("y", y);
  graph.output("p", max_pool(y, {.window = {2, 2}}));
  const Graph moved = run_passes(graph, std::vector<std::string>{"fuse", "match"}, Joining());
  for (NodeId n = 0; n < moved.nodes().size(); ++n) {
    if (!moved.is(n, "max_pool")) continue;
    EXPECT_EQ(moved.node(moved.value(moved.node(n).inputs[0]).producer).op->name, "relu");
  }
}

TEST(PassRelu, LeavesOtherComparisonsAlone) {
  const std::vector<Tensor> at{noise({3, 4}, 1)};
  const Graph graph = training(
      [](const std::vector<Tensor>& in) {
        const Tensor z = in[0] * 2.0;
        return where(greater(z, scalar_like(z, -0.5)), relu(z), z);
      },
      at);
  expect_same(graph, at);
}

TEST(PassNorm, ReluJoinsTheNormalisation) {
  const std::vector<Tensor> at{noise({3, 4, 4, 5}, 1), noise({5}, 2, 0.5, 2), noise({5}, 3)};
  const Graph graph = training(
      [](const std::vector<Tensor>& in) { return relu(batch_norm(in[0], in[1], in[2], 1e-3)[0]); }, at);
  const Graph joined = run_passes(graph, {});
  EXPECT_EQ(count(joined, "relu"), 0);
  EXPECT_EQ(count(joined, "batch_norm_grad"), 1);
  EXPECT_EQ(count(pass_norm(run_passes(graph, std::vector<std::string>{"fuse", "norm"})), "where"), 0);
  expect_same(graph, at);
}

TEST(PassNorm, ResidualAndReluJoinTheNormalisation) {
  const std::vector<Tensor> at{noise({3, 2, 2, 4}, 1), noise({4}, 2, 0.5, 2), noise({4}, 3),
                               noise({4}, 4, 0.5, 2)};
  const Graph graph = training(
      [](const std::vector<Tensor>& in) {
        const Tensor a = relu(batch_norm(in[0], in[1], in[2], 1e-3)[0]);
        const Tensor b = batch_norm(a * a, in[3], in[2], 1e-3)[0];
        return relu(b + a);
      },
      at);
  const Graph joined = pass_norm(run_passes(graph, std::vector<std::string>{"fuse", "norm"}));
  joined.verify();
  EXPECT_EQ(count(joined, "relu"), 0);
  EXPECT_EQ(count(joined, "where"), 0);
  EXPECT_EQ(count(joined, "batch_norm"), 2);
  expect_same(graph, at);
}

TEST(PassNorm, ValueReadElsewhereStaysApart) {
  const std::vector<Tensor> at{noise({6, 4}, 1), noise({4}, 2, 0.5, 2), noise({4}, 3)};
  const Graph graph = training(
      [](const std::vector<Tensor>& in) {
        const Tensor y = batch_norm(in[0], in[1], in[2], 1e-3)[0];
        return relu(y) + tanh(y);
      },
      at);
  expect_same(graph, at);
}

TEST(PassMasks, ReluGradientMovesThroughMaxPool) {
  const std::vector<Tensor> at{noise({2, 9, 9, 3}, 1), noise({3, 3, 3, 4}, 2), noise({4}, 3)};
  for (const int64_t stride : {1, 2}) {
    const Graph graph = training(
        [&](const std::vector<Tensor>& in) {
          const Tensor y = conv_bias(in[0], in[1], in[2], {}, "relu");
          return max_pool(y, {.window = {2, 2}, .strides = {stride, stride}});
        },
        at);
    const Graph moved = run_passes(graph, std::vector<std::string>{"fuse"});
    for (NodeId n = 0; n < moved.nodes().size(); ++n) {
      if (!moved.is(n, "where")) continue;
      EXPECT_LT(moved.type(moved.node(n).outputs[0]).shape.elements(), 2 * 7 * 7 * 4);
    }
    expect_same(graph, at);
  }
}

TEST(PassMasks, ReluBelowANormalisationIsMaskedInItsGradient) {
  const std::vector<Tensor> at{noise({2, 7, 7, 3}, 1), noise({3, 3, 3, 4}, 2), noise({4}, 3),
                               noise({4}, 4, 0.5, 2)};
  const Graph graph = training(
      [](const std::vector<Tensor>& in) {
        return batch_norm(conv_bias(in[0], in[1], in[2], {}, "relu"), in[3], in[2], 1e-3)[0];
      },
      at);
  const Graph masked = run_passes(graph, std::vector<std::string>{"fuse"});
  EXPECT_EQ(count(masked, "where"), 0);
  EXPECT_EQ(count(masked, "batch_norm_grad"), 1);
  expect_same(graph, at);
}

TEST(PassMasks, PoolingForInferenceKeepsNoIndex) {
  Graph graph;
  const Tensor x = graph.input("x", DType::f64, {1, 4, 4, 2});
  graph.output("y", max_pool(x, {.window = {2, 2}}));
  const Graph plain = run_passes(graph, {});
  ASSERT_EQ(count(plain, "max_pool"), 1);
  for (const Node& n : plain.nodes()) EXPECT_EQ(n.outputs.size(), 1u);
  expect_same(graph, {noise({1, 4, 4, 2}, 1)});
}

TEST(PassMatch, InferenceNormalisationGoesIntoTheConvolution) {
  const std::vector<Tensor> at{noise({2, 6, 6, 3}, 1), noise({3, 3, 3, 4}, 2), noise({4}, 3),
                               noise({4}, 4, 0.5, 2), noise({2, 4, 4, 4}, 5)};
  for (const bool bias : {false, true}) {
    Graph graph;
    std::vector<Tensor> in;
    for (const Tensor& t : at) in.push_back(graph.input(concat("x", in.size()), t.dtype(), t.shape()));
    const Tensor z = bias ? conv_bias(in[0], in[1], in[2], {}) : conv(in[0], in[1]);
    const Tensor y = batch_norm_inference(z, in[2], in[3], in[3], in[2], 1e-3);
    graph.output("y", relu(y + in[4]));
    const Graph matched = run_passes(graph, std::vector<std::string>{"fuse"});
    EXPECT_EQ(count(matched, "conv_bias"), 1);
    EXPECT_EQ(count(matched, "conv"), 0);
    EXPECT_EQ(count(matched, "relu"), 0);
    expect_same(graph, at);
  }
}

}  // namespace
}  // namespace plimsoll
