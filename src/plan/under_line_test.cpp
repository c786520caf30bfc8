#include "plan/under_line.h"

#include <functional>

#include "plan/plan_testing.h"

namespace plimsoll {
namespace {

// What a value is, whatever node makes it: its op, and what the inputs are.
std::vector<size_t> meanings(const Graph& graph) {
  std::vector<size_t> all(graph.values().size(), 0);
  for (const GraphInput& i : graph.inputs()) all[i.value] = 1000 + i.value;
  for (const GraphVariable& v : graph.variables()) all[v.value] = 2000 + v.value;
  for (const Node& node : graph.nodes()) {
    size_t hash = std::hash<std::string_view>()(node.op->name);
    for (const ValueId v : node.inputs) hash = hash * 1000003 + all[v];
    for (size_t k = 0; k < node.outputs.size(); ++k) all[node.outputs[k]] = hash * 31 + k;
  }
  return all;
}

void expect_same_results(const Graph& a, const Graph& b) {
  const std::vector<size_t> left = meanings(a), right = meanings(b);
  ASSERT_EQ(a.outputs().size(), b.outputs().size());
  for (size_t i = 0; i < a.outputs().size(); ++i)
    EXPECT_EQ(left[a.outputs()[i].value], right[b.outputs()[i].value]);
  ASSERT_EQ(a.updates().size(), b.updates().size());
  for (size_t i = 0; i < a.updates().size(); ++i)
    EXPECT_EQ(left[a.updates()[i].next], right[b.updates()[i].next]);
}

LinePlan plan_and_check_under(const Graph& graph, const std::vector<int64_t>& scratch, int64_t line) {
  LinePlan made = plan_under(graph, Plan::make(graph, scratch), scratch, {}, line);
  EXPECT_EQ(made.report.fits, made.plan.arena_bytes() <= line);
  if (!made.cloned) {
    Memory(graph, made.plan).run(scratch);
    return made;
  }
  made.cloned->graph.verify();
  expect_same_results(graph, made.cloned->graph);
  std::vector<int64_t> all;
  for (const NodeId n : made.cloned->from) all.push_back(scratch[n]);
  Memory(made.cloned->graph, made.plan).run(all);
  return made;
}

// A training step: a chain of layers forward, then back, each weight updated from its gradient.
Graph chain(int layers, int64_t width) {
  Graph graph;
  std::vector<ValueId> x = {graph.add_input("x", floats(width))}, w;
  for (int i = 0; i < layers; ++i) w.push_back(variable(graph, 16));
  for (int i = 0; i < layers; ++i) x.push_back(add(graph, kMix, {x.back(), w[static_cast<size_t>(i)]}));
  ValueId g = add(graph, kMix, {x.back()});
  for (size_t i = static_cast<size_t>(layers); i-- > 0;) {
    graph.add_update(w[i], add(graph, kAdd, {w[i], add(graph, kMix, {w[i], x[i], g})}));
    g = add(graph, kMix, {g, x[i], w[i]});
  }
  graph.add_output("y", add(graph, kShrink, {g}));
  return graph;
}

TEST(UnderLine, WhatFitsIsLeftAsItIs) {
  const Graph graph = chain(10, 256);
  const std::vector<int64_t> scratch(graph.nodes().size(), 0);
  const Plan plan = Plan::make(graph, scratch);
  const LinePlan made = plan_and_check_under(graph, scratch, plan.arena_bytes());
  EXPECT_FALSE(made.cloned);
  EXPECT_EQ(made.report.extra_seconds, 0);
  EXPECT_TRUE(std::ranges::equal(made.plan.order(), plan.order()));
}

// Every value made once more is the most a chain needs down to about the square root of its length.
TEST(UnderLine, AChainFitsUnderAFifthByRunningForwardOnceMore) {
  const Graph graph = chain(100, 4096);
  const std::vector<int64_t> scratch(graph.nodes().size(), 0);
  const int64_t all = Plan::make(graph, scratch).arena_bytes();
  const double forward = 100.0 / 400.0;
  for (const double share : {0.7, 0.5, 0.3, 0.25}) {
    SCOPED_TRACE(share);
    const LinePlan made =
        plan_and_check_under(graph, scratch, static_cast<int64_t>(share * static_cast<double>(all)));
    ASSERT_TRUE(made.report.fits);
    EXPECT_LE(made.report.extra_seconds, 1.2 * forward * made.report.seconds);
    EXPECT_GE(made.report.extra_seconds, made.report.least_extra);
    EXPECT_GT(made.report.least_extra, 0);
  }
}

TEST(UnderLine, ALowerLineTakesNoLessTime) {
  const Graph graph = chain(60, 4096);
  const std::vector<int64_t> scratch(graph.nodes().size(), 0);
  const int64_t all = Plan::make(graph, scratch).arena_bytes();
  double before = 0;
  for (int share = 100; share >= 15; share -= 5) {
    SCOPED_TRACE(share);
    const LinePlan made = plan_and_check_under(graph, scratch, all * share / 100);
    if (!made.report.fits) break;
    EXPECT_GE(made.report.extra_seconds, before);
    before = made.report.extra_seconds;
  }
  EXPECT_GT(before, 0);
}

TEST(UnderLine, WhatCannotFitSaysTheLeastThatDoes) {
  const Graph graph = chain(40, 4096);
  const std::vector<int64_t> scratch(graph.nodes().size(), 0);
  const LinePlan least = plan_and_check_under(graph, scratch, 0);
  EXPECT_FALSE(least.report.fits);
  EXPECT_TRUE(plan_and_check_under(graph, scratch, least.plan.arena_bytes()).report.fits);
  EXPECT_FALSE(plan_and_check_under(graph, scratch, least.plan.arena_bytes() * 9 / 10).report.fits);
}

TEST(UnderLine, AGraphOfFiveThousandNodesFitsUnderAThird) {
  const Graph graph = chain(1250, 4096);
  ASSERT_GE(graph.nodes().size(), 5000u);
  const std::vector<int64_t> scratch(graph.nodes().size(), 0);
  Plan plan = Plan::make(graph, scratch);
  const int64_t line = plan.arena_bytes() / 3;
  const LinePlan made = plan_under(graph, std::move(plan), scratch, {}, line);
  EXPECT_TRUE(made.report.fits);
  EXPECT_LE(made.report.extra_seconds, 0.3 * made.report.seconds);
}

TEST(UnderLine, NodesWithAnEffectRunOnce) {
  Graph graph;
  ValueId x = graph.add_input("x", floats(4096));
  std::vector<ValueId> kept;
  for (int i = 0; i < 8; ++i) kept.push_back(x = add(graph, kEffect, {x}));
  for (size_t i = kept.size(); i-- > 0;) x = add(graph, kMix, {x, kept[i]});
  graph.add_output("y", add(graph, kShrink, {x}));
  const std::vector<int64_t> scratch(graph.nodes().size(), 0);
  EXPECT_FALSE(plan_and_check_under(graph, scratch, 0).cloned);
}

TEST(UnderLine, RandomGraphsComputeTheSame) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const RandomGraph random(seed);
    SCOPED_TRACE(seed);
    const int64_t all = Plan::make(random.graph, random.scratch).arena_bytes();
    for (const int share : {80, 50, 30, 0})
      plan_and_check_under(random.graph, random.scratch, all * share / 100);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace plimsoll
