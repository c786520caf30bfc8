#include "plan/micro_batch.h"

#include <gtest/gtest.h>

#include "plan/row_jobs.h"
#include "plimsoll/autodiff.h"
#include "plimsoll/ops.h"
#include "plimsoll/program.h"

namespace plimsoll {
namespace {

size_t count(const Graph& graph, std::string_view op) {
  size_t n = 0;
  for (NodeId id = 0; id < graph.nodes().size(); ++id) n += graph.is(id, op);
  return n;
}

std::vector<NodeId> places(const Graph& graph, std::string_view op) {
  std::vector<NodeId> list;
  for (NodeId id = 0; id < graph.nodes().size(); ++id) {
    if (graph.is(id, op)) list.push_back(id);
  }
  return list;
}

// What a graph computes, plainly.
double run_first(const Graph& graph, const std::vector<Tensor>& in) {
  CompileOptions plain;
  plain.skip_passes = {"all"};
  return Program::compile(graph, plain)(in)[0].item();
}

Tensor counting(const Shape& shape) {
  std::vector<float> v(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i % 13) / 8 - 0.5f;
  return Tensor::from<float>(v, shape);
}

TEST(MicroBatch, ARangeIsDoneBeforeTheNextBegins) {
  Graph g;
  const Tensor x = g.input("x", DType::f32, {8, 64});
  const Tensor w = g.variable("w", counting({64, 64}));
  Tensor h = x;
  for (int i = 0; i < 3; ++i) h = tanh(matmul(h, w));
  g.output("loss", sum(h));
  const std::optional<Graph> cut = cut_batch(g, 4);
  ASSERT_TRUE(cut);
  cut->verify();
  const std::vector<NodeId> products = places(*cut, "dot_general"), sums = places(*cut, "reduce_sum");
  ASSERT_EQ(products.size(), 12u);
  ASSERT_EQ(sums.size(), 4u);
  for (size_t r = 0; r + 1 < 4; ++r) EXPECT_LT(sums[r], products[3 * (r + 1)]);
  EXPECT_NEAR(run_first(*cut, {counting({8, 64})}), run_first(g, {counting({8, 64})}), 1e-4);
}

// The forward pass waits for the sum over all ranges with what reads its result, and is not made twice.
TEST(MicroBatch, ASumThatAllRangesNeedComesFirst) {
  Graph g;
  const Tensor x = g.input("x", DType::f32, {9, 6}), weight = g.input("w", DType::f32, {9});
  const Tensor v = g.variable("v", counting({6, 6}));
  const Tensor h = tanh(matmul(x, v));
  const Tensor loss = sum(sum(h * h, {1}) * (weight / sum(weight)));
  const std::vector<Tensor> d = gradients(loss, {{v}});
  g.output("loss", loss);
  g.output("d", sum(d[0]));
  const std::optional<Graph> cut = cut_batch(g, 4);
  ASSERT_TRUE(cut);
  const RowJobs jobs(g);
  EXPECT_EQ(jobs.stages(), 2);
  EXPECT_EQ(count(*cut, "tanh"), 4u);
  EXPECT_GT(places(*cut, "tanh")[0], places(*cut, "add")[2]);  // behind the sum of the weights
  const std::vector<Tensor> in = {counting({9, 6}), Tensor::full(DType::f32, {9}, 0.7)};
  EXPECT_NEAR(run_first(*cut, in), run_first(g, in), 1e-5);
}

TEST(MicroBatch, WhatLooksAcrossRowsRunsOnceOnAllOfThem) {
  Graph g;
  const Tensor x = g.input("x", DType::f32, {7, 5});
  const Tensor sorted = sort(exp(x), 0);
  g.output("y", sum(sorted * sorted));
  const std::optional<Graph> cut = cut_batch(g, 3);
  ASSERT_TRUE(cut);
  EXPECT_EQ(count(*cut, "exp"), 3u);
  EXPECT_EQ(count(*cut, "sort"), 1u);
  EXPECT_NEAR(run_first(*cut, {counting({7, 5})}), run_first(g, {counting({7, 5})}), 1e-4);
}

// The sums of a batch normalisation need all rows of what comes before it, twice in each direction, but not
// all at once: ranges are made again, those of the gradient from the pool's, which has a quarter of them.
TEST(MicroBatch, RowsBeforeABatchNormalisationAreMadeAgain) {
  Graph g;
  const Tensor x = g.input("x", DType::f32, {32, 26, 26, 3});
  const Tensor w = g.variable("w", counting({3, 3, 3, 32})), scale = g.variable("s", counting({32}));
  const Tensor y = batch_norm(conv(x, w, {}), scale, scale, 1e-3)[0];
  const Tensor loss = sum(square(max_pool(y, {.window = {2, 2}, .strides = {2, 2}})));
  g.update(w, w - gradients(loss, {{w}})[0] * 0.01);
  CompileOptions options;
  const int64_t all = Program::forecast(g, options).arena;
  options.memory = all * 3 / 10;
  EXPECT_FALSE(Program::forecast(g, options).fits);
  options.micro_batch = true;
  const MemoryReport parts = Program::forecast(g, options);
  EXPECT_TRUE(parts.fits);
  EXPECT_LT(parts.extra_seconds, 1.0 * parts.seconds);
}

TEST(MicroBatch, AGradientLargerThanItsRowsIsMadeAtOnce) {
  Graph g;
  const Tensor x = g.input("x", DType::f32, {4, 100});
  const Tensor w = g.variable("w", counting({100, 50}));
  g.update(w, gradients(sum(square(matmul(x, w))), {{w}})[0]);
  const std::optional<Graph> cut = cut_batch(g, 2);
  ASSERT_TRUE(cut);
  EXPECT_EQ(count(*cut, "dot_general"), 3u);  // two ranges forward, one gradient
}

TEST(MicroBatch, WithoutABatchThereIsNothingToCut) {
  Graph g;
  g.output("y", g.input("x", DType::f32, {}) * 2.0);
  EXPECT_FALSE(cut_batch(g, 2));
  Graph one;
  one.output("y", one.input("x", DType::f32, {3, 2}) * 2.0);
  EXPECT_FALSE(cut_batch(one, 4));
  EXPECT_TRUE(cut_batch(one, 3));
}

}  // namespace
}  // namespace plimsoll
