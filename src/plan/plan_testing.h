// What tests of plans share: ops that exist only here, a model of memory in which every 64 bytes remember
// whose value they hold, and random graphs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "graph/op.h"
#include "plan/plan.h"
#include "plimsoll/error.h"

namespace plimsoll {

inline constexpr int64_t kUnit = 64;

inline std::vector<TensorType> like_first(const OpCall& call) { return {call.in[0]}; }
inline std::vector<TensorType> like_largest(const OpCall& call) {
  const auto smaller = [](const TensorType& a, const TensorType& b) {
    return a.shape.elements() < b.shape.elements();
  };
  return {*std::max_element(call.in.begin(), call.in.end(), smaller)};
}
inline std::vector<TensorType> two_like_first(const OpCall& call) { return {call.in[0], call.in[0]}; }
inline std::vector<TensorType> half_of_first(const OpCall& call) {
  return {{call.in[0].dtype, Shape{std::max<int64_t>(1, call.in[0].shape.elements() / 2)}}};
}
inline std::vector<TensorType> flat(const OpCall& call) {
  return {{call.in[0].dtype, Shape{call.in[0].shape.elements()}}};
}
inline std::vector<TensorType> of_constant(const OpCall&) { return {{DType::f32, Shape{16}}}; }
inline void no_tile(const void* const*, void*, size_t, const double*) {}
inline Tile any_tile(std::span<const TensorType>, const TensorType&, const Attrs&) { return {no_tile, {}}; }
inline uint64_t first_input(const OpCall&, int) { return 1; }
inline uint64_t input_of_output(const OpCall&, int out) { return uint64_t{1} << out; }

inline const OpDef kAdd = {.name = "add", .arity = {1, 3}, .infer = like_largest, .tile = any_tile};
inline const OpDef kMix = {.name = "mix", .arity = {1, 3}, .infer = like_first};
inline const OpDef kShrink = {
    .name = "shrink", .arity = {1, 2}, .infer = half_of_first, .in_place = first_input};
inline const OpDef kSplit = {.name = "split", .arity = {1, 2}, .infer = two_like_first};
inline const OpDef kStep = {
    .name = "step", .arity = {2, 3}, .infer = two_like_first, .in_place = input_of_output};
inline const OpDef kFlat = {.name = "flat", .arity = {1, 1}, .infer = flat, .alias = true};
inline const OpDef kConstant = {.name = "constant", .arity = {0, 0}, .infer = of_constant};
inline const OpDef kEffect = {.name = "effect", .arity = {1, 1}, .infer = like_first, .pure = false};

inline TensorType floats(int64_t count) { return {DType::f32, Shape{count}}; }

inline ValueId add(Graph& graph, const OpDef& op, std::vector<ValueId> inputs, size_t out = 0) {
  return graph.node(graph.add_node(op, inputs, {}, "")).outputs[out];
}

inline ValueId variable(Graph& graph, int64_t count) {
  return graph.add_variable(concat("v", graph.variables().size()), Tensor::zeros(DType::f32, Shape{count}));
}

inline int64_t bytes_of(const Graph& graph, ValueId v) {
  return byte_size(graph.type(v).dtype, graph.type(v).shape);
}

// Memory in units of kUnit bytes; each unit holds the root whose bytes were written there, or kNone.
class Memory {
 public:
  Memory(const Graph& graph, const Plan& plan) : graph_(graph), plan_(plan) {
    for (const GraphInput& input : graph.inputs()) write(plan.place(input.value), input.value, input.value);
    for (const GraphVariable& var : graph.variables()) write(plan.place(var.value), var.value, var.value);
    for (NodeId n = 0; n < graph.nodes().size(); ++n) {
      const Node& node = graph.node(n);
      if (node.op == &kConstant) write(plan.place(node.outputs[0]), node.outputs[0], node.outputs[0]);
    }
  }

  ValueId root(ValueId v) const {
    const NodeId producer = graph_.value(v).producer;
    if (producer == kNone || !graph_.node(producer).op->alias) return v;
    return root(graph_.node(producer).inputs[0]);
  }

  void run(std::span<const int64_t> scratch) {
    for (size_t step = 0; step < plan_.order().size(); ++step) {
      const NodeId id = plan_.order()[step];
      const Node& node = graph_.node(id);
      const auto clobber = [&] { fill({Place::Kind::arena, plan_.scratch(id)}, scratch[id], kNone); };
      clobber();
      for (const ValueId v : node.inputs) expect(plan_.place(v), v, "input", step);
      for (size_t k = 0; k < node.outputs.size(); ++k) check_overlap(node, k, step);
      for (const ValueId v : node.outputs) write(plan_.place(v), v, v);
      clobber();
      for (const ValueId v : node.outputs) expect(plan_.place(v), v, "output", step);
      for (const ValueId v : plan_.dying(step)) fill(plan_.place(v), bytes_of(graph_, v), kNone);
    }
    for (const PlanCopy& copy : plan_.copies()) {
      expect(copy.source, copy.from, "copy", plan_.order().size());
      write(copy.to, copy.from, root(copy.from));
    }
    for (size_t k = 0; k < graph_.outputs().size(); ++k) {
      const Place place = {Place::Kind::output, static_cast<int64_t>(k)};
      expect(place, graph_.outputs()[k].value, "graph output", k);
    }
    for (const GraphUpdate& update : graph_.updates()) {
      expect(plan_.place(update.variable), update.next, "updated variable", update.variable);
    }
  }

 private:
  static int64_t units(int64_t bytes) { return (bytes + kUnit - 1) / kUnit; }
  std::pair<Place::Kind, int64_t> region(const Place& p) const {
    return {p.kind, p.kind == Place::Kind::arena ? 0 : p.at};
  }
  static int64_t start(const Place& p) { return p.kind == Place::Kind::arena ? p.at : 0; }

  void fill(const Place& place, int64_t bytes, ValueId holds) {
    auto& cells = memory_[region(place)];
    for (int64_t i = 0; i < units(bytes); ++i) cells[start(place) / kUnit + i] = holds;
    if (place.kind == Place::Kind::arena) {
      EXPECT_EQ(place.at % kUnit, 0);
      EXPECT_LE(place.at + bytes, plan_.arena_bytes());
    }
  }

  void write(const Place& place, ValueId v, ValueId holds) {
    ASSERT_TRUE(place.kind != Place::Kind::none || bytes_of(graph_, v) == 0 || !is_used(v)) << "value " << v;
    if (place.kind != Place::Kind::none) fill(place, bytes_of(graph_, v), holds);
  }

  bool is_used(ValueId v) const {
    return std::any_of(graph_.nodes().begin(), graph_.nodes().end(), [&](const Node& n) {
      return std::find(n.inputs.begin(), n.inputs.end(), v) != n.inputs.end();
    });
  }

  void expect(const Place& place, ValueId v, const char* what, size_t where) {
    ASSERT_NE(place.kind, Place::Kind::none) << what << " " << v;
    auto& cells = memory_[region(place)];
    for (int64_t i = 0; i < units(bytes_of(graph_, v)); ++i) {
      ASSERT_EQ(cells[start(place) / kUnit + i], root(v)) << what << " " << v << " at " << where;
    }
  }

  // An output may lie on an input only where the op allows it, and then exactly.
  void check_overlap(const Node& node, size_t k, size_t step) {
    const Place out = plan_.place(node.outputs[k]);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Place in = plan_.place(node.inputs[i]);
      if (region(in) != region(out)) continue;
      const int64_t in_end = start(in) + bytes_of(graph_, node.inputs[i]);
      const int64_t out_end = start(out) + bytes_of(graph_, node.outputs[k]);
      if (in_end <= start(out) || out_end <= start(in)) continue;
      EXPECT_EQ(start(in), start(out)) << "step " << step;
      const bool same_elements =
          graph_.type(node.inputs[i]).shape.elements() == graph_.type(node.outputs[k]).shape.elements();
      const bool by_tile = node.op->tile != nullptr && same_elements;
      const bool by_mask = node.op->in_place != nullptr &&
                           (node.op->in_place({*node.op, {}, node.attrs}, static_cast<int>(k)) >> i & 1) != 0;
      EXPECT_TRUE(by_tile || by_mask) << "step " << step << " input " << i;
    }
  }

  const Graph& graph_;
  const Plan& plan_;
  std::map<std::pair<Place::Kind, int64_t>, std::map<int64_t, ValueId>> memory_;
};

inline Plan plan_and_check(const Graph& graph, std::vector<int64_t> scratch = {},
                           const PlanOptions& options = {}) {
  scratch.resize(graph.nodes().size(), 0);
  Plan plan = Plan::make(graph, scratch, options);
  EXPECT_GE(plan.arena_bytes(), plan.lower_bound());
  Memory(graph, plan).run(scratch);
  return plan;
}

inline size_t step_of(const Plan& plan, const Graph& graph, ValueId v) {
  const auto it = std::find(plan.order().begin(), plan.order().end(), graph.value(v).producer);
  EXPECT_NE(it, plan.order().end());
  return static_cast<size_t>(it - plan.order().begin());
}

// A graph of up to 60 nodes with every kind of op, updates and outputs of every kind.
class RandomGraph {
 public:
  explicit RandomGraph(uint32_t seed) : random_(seed) {
    for (int i = 0; i < 1 + below(3); ++i) values_.push_back(graph.add_input("x", floats(size())));
    for (int i = 0; i < below(5); ++i) {
      variables_.push_back(variable(graph, size()));
      values_.push_back(variables_.back());
    }
    for (int i = 1 + below(60); i > 0; --i) add_random_node();
    for (int i = 1 + below(3); i > 0; --i) graph.add_output("y", any());
    for (const ValueId v : variables_) add_random_update(v);
    for (size_t i = 0; i < graph.nodes().size(); ++i) scratch.push_back(below(3) == 0 ? below(500) : 0);
  }

  Graph graph;
  std::vector<int64_t> scratch;

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  int64_t size() {
    return std::vector<int64_t>{0, 1, 16, 17, 64, 64, 64, 200}[static_cast<size_t>(below(8))];
  }
  // Mostly recent values, as in real graphs.
  ValueId any() {
    const size_t back = static_cast<size_t>(below(below(3) == 0 ? static_cast<int>(values_.size()) : 4));
    return values_[values_.size() - 1 - std::min(back, values_.size() - 1)];
  }
  ValueId like(ValueId v) {
    for (int tries = 0; tries < 10; ++tries) {
      const ValueId other = any();
      if (graph.type(other) == graph.type(v)) return other;
    }
    return v;
  }

  void add_random_node() {
    static const OpDef* const kOps[] = {&kAdd,  &kAdd,  &kMix,      &kShrink, &kSplit,
                                        &kStep, &kFlat, &kConstant, &kEffect};
    const OpDef& op = *kOps[below(9)];
    std::vector<ValueId> inputs;
    if (op.arity.most > 0) inputs.push_back(any());
    while (static_cast<int>(inputs.size()) < op.arity.least ||
           (static_cast<int>(inputs.size()) < op.arity.most && below(2) == 0)) {
      inputs.push_back(&op == &kMix ? any() : like(inputs[0]));
    }
    const NodeId node = graph.add_node(op, inputs, {}, "");
    for (const ValueId v : graph.node(node).outputs) values_.push_back(v);
  }

  void add_random_update(ValueId v) {
    if (below(4) == 0) return;
    std::vector<ValueId> fitting;
    for (const ValueId other : values_) {
      if (graph.type(other) == graph.type(v)) fitting.push_back(other);
    }
    if (below(2) == 0) fitting.push_back(add(graph, kAdd, {v, like(v)}));
    graph.add_update(v,
                     fitting[fitting.size() - 1 -
                             static_cast<size_t>(below(std::min<int>(3, static_cast<int>(fitting.size()))))]);
  }

  std::mt19937 random_;
  std::vector<ValueId> values_;
  std::vector<ValueId> variables_;
};

}  // namespace plimsoll
