#include "passes/passes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "passes/graph_testing.h"
#include "plimsoll/autodiff.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"
#include "plimsoll/program.h"

namespace plimsoll {
namespace {

// A small network with something for every pass: channels-first convolution, dense, norms, softmax, duplicate
// work, constants.
Graph network() {
  Graph g;
  const Tensor x = g.input("x", DType::f32, {2, 3, 6, 6});
  const Tensor k = g.variable("k", wave({3, 3, 3, 4})), b = g.variable("b", wave({4})),
               w = g.variable("w", wave({64, 5}));
  const Tensor c = g.variable("c", wave({5}));
  const Tensor nhwc = transpose(x, {0, 2, 3, 1});
  const Tensor conv_out = transpose(relu(conv(nhwc, k) + b), {0, 3, 1, 2});
  const Tensor scaled = exp(conv_out * 0.1) * 1.0 - 0.0 + exp(conv_out * 0.1);
  const Tensor back = transpose(scaled, {0, 2, 3, 1});
  const Tensor logits = matmul(reshape(back, Shape{2, 64}), w) + c;
  const Tensor targets = g.constant(Tensor::full(DType::f32, {2, 5}, 0.2)) * 1.0;
  const Tensor loss = sum(-sum(targets * log(softmax(logits)), {1}));
  g.output("loss", loss);
  const std::vector<Tensor> by = {k, b, w, c};
  for (const Tensor& d : gradients(loss, by)) g.output("d", d);
  return g;
}

std::vector<float> run(const std::vector<std::string>& skip) {
  const Graph g = network();
  CompileOptions options;
  options.skip_passes = skip;
  const Tensor x = wave({2, 3, 6, 6});
  std::vector<float> all;
  for (const Tensor& t : Program::compile(g, options)(std::span(&x, 1))) {
    all.insert(all.end(), t.data<float>(), t.data<float>() + t.shape().elements());
  }
  return all;
}

TEST(Passes, EachCanBeLeftOutWithoutChangingResults) {
  const std::vector<float> plain = run({"all"});
  std::vector<std::vector<std::string>> choices = {{}};
  for (const Pass& p : all_passes()) choices.push_back({std::string(p.name)});
  for (const auto& skip : choices) {
    const std::vector<float> got = run(skip);
    ASSERT_EQ(got.size(), plain.size());
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_NEAR(got[i], plain[i], 1e-4 + 1e-4 * std::abs(plain[i]))
          << (skip.empty() ? "none" : skip[0]) << " " << i;
    }
  }
}

TEST(Passes, AnUnknownNameIsRefused) {
  const std::vector<std::string> skip = {"fuze"};
  EXPECT_THROW(run_passes(network(), skip), Error);
}

TEST(Passes, GraphsVerifyAfterEachOne) {
  Graph g = pass_lower(network());
  for (const Pass& p : all_passes()) {
    g = p.run(g, cpu_capabilities());
    EXPECT_NO_THROW(g.verify()) << p.name;
  }
}

TEST(Fold, ComputesWhatDependsOnConstantsButKeepsBroadcastsSmall) {
  Graph g;
  const Tensor a = g.constant(Tensor::full(DType::f32, {}, 2));
  g.output("y", broadcast_to(a * 3.0, {1000, 1000}));
  const Graph folded = pass_fold(g);
  EXPECT_EQ(count(folded, "multiply"), 0);
  EXPECT_EQ(count(folded, "broadcast_to"), 1);
}

TEST(Share, MakesEqualNodesOne) {
  Graph g;
  const Tensor x = g.input("x", DType::f32, {4});
  g.output("y", exp(x * 2.0) + exp(x * 2.0));
  const Graph shared = pass_share(g);
  EXPECT_EQ(count(shared, "exp"), 1);
  EXPECT_EQ(count(shared, "multiply"), 1);
}

TEST(Simplify, RemovesWhatDoesNothing) {
  Graph g;
  const Tensor x = g.input("x", DType::f32, {2, 3});
  Tensor y = negative(negative(x)) * 1.0 - 0.0;
  y = transpose(transpose(y, {1, 0}), {1, 0});
  y = reshape(reshape(y, Shape{6}), Shape{2, 3});
  g.output("y", cast(y, DType::f32) / 1.0);
  EXPECT_EQ(pass_simplify(g).nodes().size(), 0u);
}

TEST(Simplify, KeepsSignedZerosAndNaNs) {
  Graph g;
  const Tensor x = g.input("x", DType::f32, {2});
  g.output("y", x + 0.0);
  g.output("z", x * 0.0);
  const Graph simple = pass_simplify(g);
  EXPECT_EQ(count(simple, "add"), 1);
  EXPECT_EQ(count(simple, "multiply"), 1);
}

TEST(Layout, AChannelsFirstNetworkHasNoTransposeLeftInside) {
  Graph g;
  Tensor x = g.input("x", DType::f32, {2, 3, 8, 8});
  int64_t channels = 3;
  for (int layer = 0; layer < 3; ++layer) {
    const Tensor k = g.variable("k", wave({3, 3, channels, 4})), b = g.variable("b", wave({1, 4, 1, 1}));
    x = transpose(conv(transpose(x, {0, 2, 3, 1}), k), {0, 3, 1, 2});
    x = relu(x + b);
    channels = 4;
  }
  g.output("y", x);
  // One at the entry, one at the exit; those of the biases move four numbers.
  const Graph out = pass_layout(g);
  int64_t large = 0;
  for (const Node& n : out.nodes())
    large += n.op->name == "transpose" && out.type(n.outputs[0]).shape.elements() > 4;
  EXPECT_EQ(large, 2);
}

TEST(Match, ChainsBecomeLibraryOps) {
  Graph g;
  const Tensor x = g.input("x", DType::f32, {2, 6, 6, 3});
  const Tensor k = g.variable("k", wave({3, 3, 3, 4})), b = g.variable("b", wave({4})),
               w = g.variable("w", wave({64, 5}));
  const Tensor h = relu(conv(x, k) + b);
  const Tensor z = tanh(matmul(reshape(h, Shape{2, 64}), w) + g.variable("c", wave({5})));
  g.output("y", log(softmax(z)));
  const Graph matched = pass_match(g);
  EXPECT_EQ(count(matched, "conv_bias"), 1);
  EXPECT_EQ(count(matched, "dense"), 1);
  EXPECT_EQ(count(matched, "log_softmax"), 1);
  EXPECT_EQ(count(matched, "relu") + count(matched, "tanh") + count(matched, "add") + count(matched, "log"),
            0);
}

// Heads of attention: a kernel and a bias with an axis for the head.
TEST(Match, AProjectionToHeadsIsADenseOne) {
  Graph graph;
  const Tensor x = graph.input("x", DType::f32, Shape{2, 5, 6});
  const Tensor kernel = graph.input("kernel", DType::f32, Shape{6, 3, 4});
  const Tensor bias = graph.input("bias", DType::f32, Shape{3, 4});
  graph.output("y", dot_general(x, kernel, {2}, {0}) + bias);
  graph.output("z", dot_general(x, kernel, {2}, {0}) + reshape(bias, Shape{1, 1, 3, 4}) * 2.0);
  graph.output("not", dot_general(x, kernel, {2}, {0}) * 2.0 + reshape(bias, Shape{3, 4}));
  const Graph matched = pass_match(graph);
  size_t dense = 0;
  for (NodeId n = 0; n < matched.nodes().size(); ++n) dense += matched.is(n, "dense") ? 1 : 0;
  EXPECT_EQ(dense, 2u);
}

TEST(Match, NormalisationAndAttentionAreFound) {
  Graph g;
  const Tensor x = g.input("x", DType::f32, {2, 5, 8});
  const Tensor gamma = g.variable("gamma", wave({8})), beta = g.variable("beta", wave({8}));
  const Tensor d = x - mean(x, {-1}, true);
  g.output("norm", d * rsqrt(mean(d * d, {-1}, true) + 1e-3) * gamma + beta);
  const Tensor q = reshape(x, Shape{2, 5, 2, 4});
  const Tensor scores = dot_general(q, q, {3}, {3}, {0, 2}, {0, 2}) * 0.5;
  g.output("attention", dot_general(softmax(scores), q, {3}, {1}, {0, 1}, {0, 2}));
  const Graph matched = pass_match(pass_simplify(g));
  EXPECT_EQ(count(matched, "layer_norm"), 1);
  EXPECT_EQ(count(matched, "attention"), 1);
}

TEST(Match, AdamOnAnEmbeddingMakesNoDenseGradient) {
  const auto build = [](Graph& g, std::vector<Tensor>& state) {
    state = {wave({50, 8}), Tensor::zeros(DType::f32, {50, 8}), Tensor::zeros(DType::f32, {50, 8})};
    const Tensor table = g.variable("table", state[0]), slot_m = g.variable("m", state[1]),
                 slot_v = g.variable("v", state[2]);
    const Tensor rows = embedding(table, g.input("i", DType::i32, {6}));
    const Tensor d = gradients(sum(rows * rows), std::span(&table, 1))[0];
    const auto next = adam_update(table, d, slot_m, slot_v, g.constant(Tensor::full(DType::f32, {}, 0.1)),
                                  g.constant(Tensor::zeros(DType::i64, {})));
    g.update(table, next[0]);
    g.update(slot_m, next[1]);
    g.update(slot_v, next[2]);
  };
  Graph a, b;
  std::vector<Tensor> with, without;
  build(a, with);
  build(b, without);
  EXPECT_EQ(count(pass_match(a), "adam_update_rows"), 1);
  EXPECT_EQ(count(pass_match(a), "embedding_grad"), 0);
  const std::vector<int32_t> rows = {3, 7, 3, 49, 0, 7};
  const Tensor in = Tensor::from<int32_t>(rows, {6});
  CompileOptions plain;
  plain.skip_passes = {"match"};
  Program::compile(a)(std::span(&in, 1));
  Program::compile(b, plain)(std::span(&in, 1));
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(0, std::memcmp(with[i].data(), without[i].data(), 50 * 8 * sizeof(float))) << i;
  }
}

TEST(Fuse, AChainAndItsReductionsAreOneNode) {
  Graph g;
  const Tensor x = g.input("x", DType::f32, {64, 32}), b = g.input("b", DType::f32, {32});
  const Tensor y = exp(x * 2.0 + b);
  g.output("y", y);
  g.output("rows", sum(y, {1}));
  g.output("columns", sum(y * y, {0}));
  const Graph fused = pass_fuse(g);
  EXPECT_EQ(count(fused, "fused"), 1);
  EXPECT_EQ(fused.nodes().size(), 1u) << fused.text();
}

TEST(Fuse, DoesNotSwallowWhatNeedsAFinishedReduction) {
  Graph g;
  const Tensor x = g.input("x", DType::f32, {64, 32});
  const Tensor e = exp(x);
  g.output("softmax", e / sum(e, {1}, true));
  const Graph fused = pass_fuse(g);
  fused.verify();
  EXPECT_EQ(count(fused, "fused"), 1) << fused.text();
  EXPECT_EQ(count(fused, "divide"), 1) << fused.text();
}

TEST(Trim, AScanThatNobodyDifferentiatesSavesNothing) {
  Graph g;
  const Tensor c = g.input("c", DType::f32, {}), xs = g.input("xs", DType::f32, {5});
  const Body body = [](std::span<const Tensor> in) { return std::vector<Tensor>{in[0] + in[1]}; };
  g.output("y", scan(std::span(&c, 1), std::span(&xs, 1), 5, body)[0]);
  const Graph trimmed = pass_trim(g);
  EXPECT_FALSE(trimmed.node(0).attrs.flag("save"));
}

}  // namespace
}  // namespace plimsoll
