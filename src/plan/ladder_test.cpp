#include "plan/ladder.h"

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

void check_plan(const Graph& graph, const std::vector<int64_t>& scratch, const ExecPlan& made) {
  made.cloned.graph.verify();
  expect_same_results(graph, made.cloned.graph);
  std::vector<int64_t> all;
  for (const NodeId n : made.cloned.from) all.push_back(scratch[n]);
  Memory(made.cloned.graph, made.plan).run(all);
}

// The cheapest under the line, checked; nothing if there is none.
std::optional<Ladder::Rung> under(Ladder& ladder, int64_t line) {
  const auto found = ladder.first([&](int64_t arena, size_t) { return arena <= line; });
  return found ? std::optional(ladder.rung(*found)) : std::nullopt;
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

// Every value made once more is the most a chain needs down to about the square root of its length.
TEST(Ladder, AChainFitsUnderAFifthByRunningForwardOnceMore) {
  const Graph graph = chain(100, 4096);
  const std::vector<int64_t> scratch(graph.nodes().size(), 0);
  const int64_t all = Plan::make(graph, scratch).arena_bytes();
  Ladder ladder(graph, scratch, {});
  const double forward = 100.0 / 400.0;
  for (const double share : {0.7, 0.5, 0.3, 0.25}) {
    SCOPED_TRACE(share);
    const auto line = static_cast<int64_t>(share * static_cast<double>(all));
    const auto made = under(ladder, line);
    ASSERT_TRUE(made);
    EXPECT_LE(made->extra_seconds, 1.2 * forward * run_seconds(graph, 1));
    EXPECT_GE(made->extra_seconds, ladder.least_extra(line));
    EXPECT_GT(ladder.least_extra(line), 0);
  }
}

TEST(Ladder, AGraphOfFiveThousandNodesFitsUnderAThird) {
  const Graph graph = chain(1250, 4096);
  ASSERT_GE(graph.nodes().size(), 5000u);
  const std::vector<int64_t> scratch(graph.nodes().size(), 0);
  const int64_t line = Plan::make(graph, scratch).arena_bytes() / 3;
  Ladder ladder(graph, scratch, {});
  const auto made = under(ladder, line);
  ASSERT_TRUE(made);
  EXPECT_LE(made->extra_seconds, 0.3 * run_seconds(graph, 1));
}

TEST(Ladder, NodesWithAnEffectRunOnce) {
  Graph graph;
  ValueId x = graph.add_input("x", floats(4096));
  std::vector<ValueId> kept;
  for (int i = 0; i < 8; ++i) kept.push_back(x = add(graph, kEffect, {x}));
  for (size_t i = kept.size(); i-- > 0;) x = add(graph, kMix, {x, kept[i]});
  graph.add_output("y", add(graph, kShrink, {x}));
  const std::vector<int64_t> scratch(graph.nodes().size(), 0);
  Ladder ladder(graph, scratch, {});
  EXPECT_EQ(ladder.rung(*ladder.smallest()).extra_seconds, 0);
}

// A value is made of a smaller one that nobody else needs any more, and that takes long to make: to hold the
// smaller one is what a gap of the larger costs.
TEST(Ladder, WhatALargeValueIsMadeOfIsHeldForIt) {
  Graph graph;
  const int64_t n = 4096;
  const auto shrunk = [&](ValueId v) {
    for (int i = 0; i < 6; ++i) v = add(graph, kShrink, {v});
    return v;
  };
  const ValueId x = graph.add_input("x", floats(n));
  ValueId small = graph.add_input("small", floats(n / 64));
  const ValueId w = variable(graph, n);
  for (int i = 0; i < 40; ++i) small = add(graph, kMix, {small});
  const ValueId large = add(graph, kAdd, {small, w});
  const ValueId p = add(graph, kMix, {x, shrunk(add(graph, kMix, {large}))});
  const ValueId q = add(graph, kMix, {p});
  const ValueId between = shrunk(add(graph, kMix, {add(graph, kMix, {q, p}), q, p}));
  graph.add_output("y", shrunk(add(graph, kMix, {large, between})));
  const std::vector<int64_t> scratch(graph.nodes().size(), 0);
  const int64_t all = Plan::make(graph, scratch).arena_bytes(), bytes = 4 * n;
  ASSERT_GE(all, 5 * bytes);
  Ladder ladder(graph, scratch, {});
  const auto found = ladder.first([&](int64_t arena, size_t) { return arena <= all - bytes * 9 / 10; });
  ASSERT_TRUE(found);
  EXPECT_LT(ladder.rung(*found).extra_seconds, 0.1 * run_seconds(graph, 1));
  check_plan(graph, scratch, plan_execs(graph, ladder.execs(*found), scratch, {}));
}

// Of every line: what is planned for a smaller one has no larger arena and takes no less time, and the least
// that is named is the first that does.
void expect_monotone(const Graph& graph, const std::vector<int64_t>& scratch) {
  Ladder ladder(graph, scratch, {});
  if (!ladder.smallest()) return;
  const int64_t least = ladder.rung(*ladder.smallest()).arena;
  check_plan(graph, scratch, ladder.plan(*ladder.smallest()));
  EXPECT_FALSE(under(ladder, least - 1));
  EXPECT_GE(least, least_arena(graph, scratch, {}));
  const int64_t all = Plan::make(graph, scratch).arena_bytes();
  int64_t arena = 0;
  double seconds = 1e9;
  for (int64_t line = least; line <= all; line += std::max<int64_t>(all / 97, 64)) {
    const auto made = under(ladder, line);
    ASSERT_TRUE(made);
    ASSERT_LE(made->arena, line);
    ASSERT_GE(made->arena, arena);
    ASSERT_LE(made->extra_seconds, seconds);
    arena = made->arena;
    seconds = made->extra_seconds;
  }
}

TEST(Ladder, ALowerLineTakesNoLessTimeAndNoMoreBytes) {
  const Graph graph = chain(60, 4096);
  expect_monotone(graph, std::vector<int64_t>(graph.nodes().size(), 0));
}

TEST(Ladder, RandomGraphsComputeTheSame) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const RandomGraph random(seed);
    SCOPED_TRACE(seed);
    expect_monotone(random.graph, random.scratch);
    Ladder ladder(random.graph, random.scratch, {});
    const int64_t all = Plan::make(random.graph, random.scratch).arena_bytes();
    for (const int share : {80, 50, 30}) {
      const auto found = ladder.first([&](int64_t arena, size_t) { return arena <= all * share / 100; });
      if (found) check_plan(random.graph, random.scratch, ladder.plan(*found));
    }
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Ladder, ExecsOfAnotherGraphAreRefused) {
  const Graph small = chain(4, 64), large = chain(9, 64);
  const std::vector<int64_t> scratch(large.nodes().size(), 0);
  Ladder ladder(large, scratch, {});
  EXPECT_THROW((void)plan_execs(small, ladder.execs(0), scratch, {}), Error);
  Ladder less(small, scratch, {});
  EXPECT_THROW((void)plan_execs(large, less.execs(0), scratch, {}), Error);
}

}  // namespace
}  // namespace plimsoll
