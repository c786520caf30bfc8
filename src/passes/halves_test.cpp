// Passes on graphs of mixed precision: that they see what they see in float32, and what they save.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "graph/capabilities.h"
#include "passes/graph_testing.h"
#include "passes/passes.h"
#include "plimsoll/autodiff.h"
#include "plimsoll/ops.h"
#include "plimsoll/ops/optimizer.h"
#include "plimsoll/program.h"

namespace plimsoll {
namespace {

// x . w1 . w2 . w3 in bfloat16 with weights in float32, and a step of gradient descent.
Graph mixed_step(int64_t width) {
  Graph g;
  const Tensor x = g.input("x", DType::bf16, {2, width}),
               rate = g.constant(Tensor::full(DType::f32, {}, 0.1));
  std::vector<Tensor> ws;
  Tensor y = x;
  for (const char* name : {"w1", "w2", "w3"}) {
    ws.push_back(g.variable(name, wave({width, width})));
    y = matmul(y, cast(ws.back(), DType::bf16));
  }
  const Tensor loss = sum(cast(y, DType::f32));
  g.output("loss", loss);
  const std::vector<Tensor> ds = gradients(loss, ws);
  for (size_t i = 0; i < ws.size(); ++i) g.update(ws[i], sgd_update(ws[i], ds[i], {}, rate, 0, false)[0]);
  return g;
}

TEST(Halves, OnADeviceThatJoinsNodesAllWeightsAreCastFirst) {
  const Graph graph = run_passes(mixed_step(4), {}, Joining());
  EXPECT_EQ(count(graph, "cast"), 3);
  for (NodeId n = 0, seen = 0; seen < 3; ++n) {
    ASSERT_LT(n, graph.nodes().size());
    if (!has_code(graph.node(n))) continue;
    EXPECT_EQ(graph.node(n).op->name, "cast");
    ++seen;
  }
}

TEST(Halves, AWeightIsCastWhereItIsRead) {
  const std::vector<std::string> without = {"recast"};
  const Graph plain = run_passes(mixed_step(4), without), again = run_passes(mixed_step(4), {});
  EXPECT_EQ(count(plain, "cast"), 3);
  EXPECT_EQ(count(again, "cast"), 5);  // those of w2 and w3 for the forward and the backward pass
  for (NodeId n = 0; n + 1 < again.nodes().size(); ++n) {
    if (!again.is(n, "cast") || again.type(again.node(n).outputs[0]).dtype != DType::bf16) continue;
    const std::vector<ValueId>& next = again.node(n + 1).inputs;
    EXPECT_NE(std::find(next.begin(), next.end(), again.node(n).outputs[0]), next.end()) << "node " << n;
  }
}

TEST(Halves, NoCopiesOfWeightsAreKeptForTheBackwardPass) {
  const int64_t width = 256, copy = width * width * 2;
  CompileOptions kept;
  kept.skip_passes = {"recast"};
  EXPECT_LE(Program::forecast(mixed_step(width)).arena + copy / 2,
            Program::forecast(mixed_step(width), kept).arena);
}

TEST(Halves, RecastingChangesNoBit) {
  const Tensor x = cast(wave({2, 16}), DType::bf16);
  std::vector<float> weights[2];
  for (const bool skip : {false, true}) {
    CompileOptions options;
    if (skip) options.skip_passes = {"recast", "match"};
    const Graph g = mixed_step(16);
    Program program = Program::compile(g, options);
    for (int i = 0; i < 3; ++i) program(std::span(&x, 1));
    for (const GraphVariable& v : g.variables()) {
      const float* const w = v.storage.data<float>();
      weights[skip].insert(weights[skip].end(), w, w + v.storage.shape().elements());
    }
  }
  EXPECT_EQ(weights[0], weights[1]);
}

TEST(Halves, AnUpdateReadsAGradientOfHalves) {
  const Graph g = run_passes(mixed_step(4), {});
  ASSERT_EQ(count(g, "sgd_update"), 3);
  for (const Node& n : g.nodes()) {
    if (n.op->name != "sgd_update") continue;
    EXPECT_EQ(g.type(n.inputs[1]).dtype, DType::bf16);
  }
}

// What a scaled loss adds to a step: are all gradients finite?
TEST(Halves, WhetherAGradientIsFiniteIsAskedOfTheHalves) {
  for (const DType half : {DType::f16, DType::bf16}) {
    Graph g;
    const Tensor x = g.input("x", half, {40});
    g.output("finite", all(isfinite(cast(x, DType::f32))));
    EXPECT_EQ(count(pass_simplify(g), "cast"), 0);
  }
  Graph g;
  g.output("finite", all(isfinite(cast(g.input("x", DType::f64, {40}), DType::f32))));
  EXPECT_EQ(count(pass_simplify(g), "cast"), 1) << "a double may be too large for float32";
}

// A table's gradient, guarded, in float16 or in a type whose sums may overflow.
Graph guarded_table(DType half) {
  Graph g;
  const Tensor table = g.variable("table", wave({50, 4})),
               m = g.variable("m", Tensor::zeros(DType::f32, {50, 4})),
               v = g.variable("v", Tensor::zeros(DType::f32, {50, 4}));
  const Tensor y = cast(embedding(table, g.input("ids", DType::i32, {7})), half);
  const Tensor loss = sum(cast(square(y), DType::f32));
  g.output("loss", loss);
  const Tensor d = gradients(loss, std::span(&table, 1))[0];
  const Tensor scale = g.input("scale", DType::f32, {});
  const std::vector<Tensor> next =
      adam_update(table, d, m, v, g.constant(Tensor::full(DType::f32, {}, 0.1)),
                  g.constant(Tensor::full(DType::i64, {}, 0)), {}, {scale, all(isfinite(d))});
  g.update(table, next[0]);
  g.update(m, next[1]);
  g.update(v, next[2]);
  return g;
}

TEST(Halves, AGuardedTablesGradientIsNeverMade) {
  const Graph out = run_passes(guarded_table(DType::f16), {});
  EXPECT_EQ(count(out, "embedding_grad"), 0);
  EXPECT_EQ(count(out, "adam_update_rows"), 1);
  EXPECT_EQ(count(run_passes(guarded_table(DType::bf16), {}), "embedding_grad"), 1)
      << "sums of bfloat16 may be infinite where none of them is";
}

TEST(Halves, AGuardedUpdateOfATableIsTheSameWithoutPasses) {
  for (const double last : {1.0, HUGE_VAL}) {
    std::vector<float> tables[2];
    for (const bool plain : {false, true}) {
      const Graph g = guarded_table(DType::f16);
      CompileOptions options;
      if (plain) options.skip_passes = {"all"};
      g.variables()[0].storage.data<float>()[199] = static_cast<float>(last);
      const std::vector<int32_t> ids = {3, 49, 3, -1, 7, 0, 60};
      Program program = Program::compile(g, options);
      const std::vector<Tensor> in = {Tensor::from<int32_t>(ids, {7}), Tensor::full(DType::f32, {}, 4)};
      program(in);
      for (const GraphVariable& v : g.variables()) {
        const float* const w = v.storage.data<float>();
        tables[plain].insert(tables[plain].end(), w, w + 200);
      }
    }
    for (size_t i = 0; i < tables[0].size(); ++i)
      ASSERT_TRUE(tables[0][i] == tables[1][i] || std::abs(tables[0][i] - tables[1][i]) < 1e-6) << i;
    EXPECT_EQ(tables[0][13] == wave({50, 4}).data<float>()[13], std::isinf(last)) << "row 3 is looked up";
  }
}

TEST(Halves, ATablesUpdateTakesTheRowsOfHalvesAlone) {
  Graph g;
  const Tensor table = g.variable("table", wave({50, 4})),
               m = g.variable("m", Tensor::zeros(DType::f32, {50, 4})),
               v = g.variable("v", Tensor::zeros(DType::f32, {50, 4}));
  const Tensor ids = g.input("ids", DType::i32, {7});
  const Tensor y = cast(embedding(table, ids), DType::bf16);
  const Tensor loss = sum(cast(square(y), DType::f32));
  g.output("loss", loss);
  const Tensor d = gradients(loss, std::span(&table, 1))[0];
  const std::vector<Tensor> next = adam_update(table, d, m, v, g.constant(Tensor::full(DType::f32, {}, 0.1)),
                                               g.constant(Tensor::full(DType::i64, {}, 0)));
  g.update(table, next[0]);
  g.update(m, next[1]);
  g.update(v, next[2]);
  const Graph out = run_passes(g, {});
  EXPECT_EQ(count(out, "embedding_grad"), 0);
  ASSERT_EQ(count(out, "adam_update_rows"), 1);
  for (const Node& n : out.nodes()) {
    if (n.op->name != "adam_update_rows") continue;
    EXPECT_EQ(out.type(n.inputs[2]).dtype, DType::bf16);
  }
}

}  // namespace
}  // namespace plimsoll
