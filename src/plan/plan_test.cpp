// A plan is judged by running it on a model of memory.
#include "graph/capabilities.h"
#include "plan/plan_testing.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

TEST(Plan, AnElementWiseChainNeedsOneBuffer) {
  Graph graph;
  ValueId x = graph.add_input("x", floats(1024));
  for (int i = 0; i < 10; ++i) x = add(graph, kAdd, {x});
  graph.add_output("y", add(graph, kShrink, {add(graph, kMix, {x})}));
  const Plan plan = plan_and_check(graph);
  EXPECT_EQ(plan.arena_bytes(), 2 * 4096) << "one for the chain, one for what must not work in place";
}

TEST(Plan, AnOutputIsWrittenWhereItIsWanted) {
  Graph graph;
  const ValueId x = graph.add_input("x", floats(1024));
  const ValueId y = add(graph, kAdd, {add(graph, kMix, {x})});
  graph.add_output("y", add(graph, kFlat, {y}));
  const Plan plan = plan_and_check(graph);
  EXPECT_EQ(plan.place(y).kind, Place::Kind::output);
  EXPECT_TRUE(plan.copies().empty());
  EXPECT_EQ(plan.arena_bytes(), 0);
}

TEST(Plan, OutputsThatNoNodeWritesAreCopied) {
  Graph graph;
  const ValueId x = graph.add_input("x", floats(16));
  const ValueId w = variable(graph, 16);
  const ValueId c = add(graph, kConstant, {});
  const ValueId y = add(graph, kMix, {x});
  for (const ValueId v : {x, w, c, y, y, add(graph, kFlat, {y})}) graph.add_output("o", v);
  EXPECT_EQ(plan_and_check(graph).copies().size(), 5u) << "all but the first of y";
}

TEST(Plan, InputsAndConstantsAreNeverWritten) {
  Graph graph;
  const ValueId x = graph.add_input("x", floats(16));
  const ValueId c = add(graph, kConstant, {});
  graph.add_output("y", add(graph, kMix, {add(graph, kAdd, {x, c})}));
  plan_and_check(graph);
}

TEST(Plan, AVariableIsUpdatedInPlace) {
  Graph graph;
  const ValueId x = graph.add_input("x", floats(256));
  const ValueId w = variable(graph, 256);
  const ValueId gradient = add(graph, kMix, {x, w});
  const ValueId next = add(graph, kAdd, {w, gradient});
  graph.add_update(w, next);
  const Plan plan = plan_and_check(graph);
  EXPECT_EQ(plan.place(next), plan.place(w));
  EXPECT_TRUE(plan.copies().empty());
}

class Joining final : public Capabilities {
 public:
  bool runs(const OpCall&, std::span<const TensorType>) const override { return true; }
  Fuse fuses(const OpCall&, std::span<const TensorType>) const override { return Fuse::no; }
  uint64_t in_place(const OpCall& call, std::span<const TensorType> out, int index) const override {
    return op_in_place(call, out, index);
  }
  Limits limits() const override {
    Limits limits;
    limits.joins = true;
    return limits;
  }
};

TEST(Plan, SmallUpdatesComeLastWhereADeviceJoinsThem) {
  Graph graph;
  ValueId x = graph.add_input("x", floats(256));
  std::vector<ValueId> variables, gradients;
  for (int i = 0; i < 3; ++i) {
    variables.push_back(variable(graph, 256));
    gradients.push_back(x = add(graph, kMix, {x}));
  }
  graph.add_output("x", add(graph, kMix, {x}));
  for (size_t i = 0; i < 3; ++i)
    graph.add_update(variables[i], add(graph, kAdd, {variables[i], gradients[i]}));
  const auto updates_at_end = [&](const PlanOptions& options) {
    const Plan plan = Plan::make(graph, {}, options);
    size_t n = 0;
    while (n < plan.order().size() &&
           graph.node(plan.order()[plan.order().size() - 1 - n]).op->name == kAdd.name)
      ++n;
    return n;
  };
  const Joining joining;
  EXPECT_EQ(updates_at_end({.can = &joining}), 3u);
  EXPECT_LT(updates_at_end({.can = &joining, .joins = false}), 3u);
  EXPECT_LT(updates_at_end({}), 3u);
}

TEST(Plan, AnUpdateWaitsForReadersOfTheOldValue) {
  Graph graph;
  const ValueId x = graph.add_input("x", floats(256));
  const ValueId w = variable(graph, 256);
  const ValueId next = add(graph, kAdd, {w, x});
  graph.add_update(w, next);
  const ValueId late = add(graph, kMix, {x, w});  // stands after the update in the graph
  graph.add_output("y", late);
  const Plan plan = plan_and_check(graph);
  EXPECT_TRUE(plan.copies().empty());
  EXPECT_LT(step_of(plan, graph, late), step_of(plan, graph, next));
  const Plan as_given = plan_and_check(graph, {}, {.reorder = false});
  EXPECT_EQ(as_given.copies().size(), 1u);
}

TEST(Plan, AnUpdateThatTheOldValueDependsOnIsCopied) {
  Graph graph;
  const ValueId w = variable(graph, 256);
  const ValueId next = add(graph, kAdd, {w});
  graph.add_update(w, next);
  graph.add_output("y", add(graph, kMix, {next, w}));
  EXPECT_EQ(plan_and_check(graph).copies().size(), 1u);
}

TEST(Plan, AnOpThatMustNotWorkInPlaceDoesNotUpdateInPlace) {
  Graph graph;
  const ValueId w = variable(graph, 256);
  graph.add_update(w, add(graph, kMix, {w}));
  EXPECT_EQ(plan_and_check(graph).copies().size(), 1u);
}

TEST(Plan, AFusedUpdateWritesAllItsVariablesInPlace) {
  Graph graph;
  const ValueId x = graph.add_input("x", floats(256));
  const ValueId w = variable(graph, 256);
  const ValueId m = variable(graph, 256);
  const NodeId step = graph.add_node(kStep, std::vector<ValueId>{w, m, add(graph, kMix, {x, w})}, {}, "");
  graph.add_update(w, graph.node(step).outputs[0]);
  graph.add_update(m, graph.node(step).outputs[1]);
  const Plan plan = plan_and_check(graph);
  EXPECT_TRUE(plan.copies().empty());
  EXPECT_EQ(plan.arena_bytes(), 1024) << "the gradient";
}

TEST(Plan, VariablesCanBeSwapped) {
  Graph graph;
  const ValueId a = variable(graph, 64);
  const ValueId b = variable(graph, 64);
  const ValueId c = variable(graph, 64);
  graph.add_update(a, b);
  graph.add_update(b, c);
  graph.add_update(c, a);
  plan_and_check(graph);
}

TEST(Plan, VariablesThatNeedEachOthersOldValuesAreBothRight) {
  Graph graph;
  const ValueId a = variable(graph, 64);
  const ValueId b = variable(graph, 64);
  graph.add_update(a, add(graph, kAdd, {a, b}));
  graph.add_update(b, add(graph, kAdd, {b, a}));
  EXPECT_EQ(plan_and_check(graph).copies().size(), 1u);
}

TEST(Plan, NodesThatNothingNeedsDoNotRunUnlessTheyHaveAnEffect) {
  Graph graph;
  const ValueId x = graph.add_input("x", floats(16));
  add(graph, kMix, {x});
  const ValueId effect = add(graph, kEffect, {x});
  graph.add_output("y", add(graph, kMix, {x}));
  const Plan plan = plan_and_check(graph);
  EXPECT_EQ(plan.order().size(), 2u);
  EXPECT_EQ(plan.place(effect).kind, Place::Kind::arena);
}

TEST(Plan, ScratchSharesBytesWithNothingAlive) {
  Graph graph;
  const ValueId x = graph.add_input("x", floats(1024));
  const ValueId a = add(graph, kMix, {x});
  const ValueId b = add(graph, kMix, {a});
  graph.add_output("y", add(graph, kMix, {b}));
  const Plan plan = plan_and_check(graph, {4096, 100, 4096});
  EXPECT_EQ(plan.arena_bytes(), 4096 + 4096 + 128);
}

TEST(Plan, WithoutReuseEveryValueHasBytesOfItsOwn) {
  Graph graph;
  ValueId x = graph.add_input("x", floats(16));
  for (int i = 0; i < 5; ++i) x = add(graph, kAdd, {x});
  graph.add_output("y", add(graph, kMix, {x}));
  EXPECT_EQ(plan_and_check(graph, {}, {.reuse = false}).arena_bytes(), 5 * 64);
}

TEST(Plan, ReorderingLowersThePeak) {
  // Many large values made first, each reduced only later: better one after the other.
  Graph graph;
  const ValueId x = graph.add_input("x", floats(1 << 16));
  std::vector<ValueId> large;
  for (int i = 0; i < 8; ++i) large.push_back(add(graph, kMix, {x}));
  for (const ValueId v : large) {
    ValueId y = v;
    for (int i = 0; i < 10; ++i) y = add(graph, kShrink, {y});
    graph.add_output("y", y);
  }
  const Plan as_given = plan_and_check(graph, {}, {.reorder = false});
  const Plan ordered = plan_and_check(graph);
  EXPECT_LE(ordered.arena_bytes() * 3, as_given.arena_bytes());
}

TEST(Plan, RefusesANegativeScratch) {
  Graph graph;
  graph.add_output("y", add(graph, kMix, {graph.add_input("x", floats(16))}));
  const std::vector<int64_t> scratch = {-1};
  EXPECT_THROW(Plan::make(graph, scratch), Error);
}

TEST(Plan, RandomGraphsReadWhatWasWritten) {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    const RandomGraph random(seed);
    SCOPED_TRACE(seed);
    plan_and_check(random.graph, random.scratch);
    plan_and_check(random.graph, random.scratch, {.reorder = false});
    plan_and_check(random.graph, random.scratch, {.reuse = false});
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace plimsoll
