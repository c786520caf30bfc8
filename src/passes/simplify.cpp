// Algebra that never changes a result: neutral elements, doubled moves, moves that do nothing. Floats keep
// their NaNs and signed zeros: x * 0 stays, and x + 0 goes only where -0 + 0 = 0 cannot be told apart
// (never), so it stays too.
#include <algorithm>
#include <array>
#include <numeric>

#include "graph/op.h"
#include "passes/passes.h"
#include "passes/rewriter.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

// Each rule looks at a node of the old graph and returns the tensor that takes its place, or an undefined
// one.
using Rule = Tensor (*)(Rewriter& r, const Node& node);

const TensorType& type_in(const Rewriter& r, const Node& node, int i) {
  return r.old().type(node.inputs[static_cast<size_t>(i)]);
}
const TensorType& type_out(const Rewriter& r, const Node& node) { return r.old().type(node.outputs[0]); }

// Input i, if it has the output's type: what the node becomes when it does nothing.
Tensor pass_through(Rewriter& r, const Node& node, int i) {
  if (!(type_in(r, node, i) == type_out(r, node))) return {};
  return r.tensor(node.inputs[static_cast<size_t>(i)]);
}

bool is_value(const Rewriter& r, const Node& node, int i, double value) {
  const Splat s = splat(r.old(), node.inputs[static_cast<size_t>(i)]);
  return s.known && s.value == value;
}

const Node* producer(const Rewriter& r, const Node& node, int i, std::string_view op) {
  const NodeId p = r.old().value(node.inputs[static_cast<size_t>(i)]).producer;
  return r.old().is(p, op) ? &r.old().node(p) : nullptr;
}

Tensor times_one(Rewriter& r, const Node& node) {
  if (is_value(r, node, 1, 1.0)) return pass_through(r, node, 0);
  if (node.op->name == "multiply" && is_value(r, node, 0, 1.0)) return pass_through(r, node, 1);
  return {};
}

Tensor minus_zero(Rewriter& r, const Node& node) {  // x - 0 = x for every x, -0 among them
  return is_value(r, node, 1, 0.0) ? pass_through(r, node, 0) : Tensor();
}

Tensor integer_plus_zero(Rewriter& r, const Node& node) {
  if (!is_integer(type_out(r, node).dtype)) return {};
  if (is_value(r, node, 1, 0.0)) return pass_through(r, node, 0);
  if (is_value(r, node, 0, 0.0)) return pass_through(r, node, 1);
  return {};
}

Tensor power_of_constant(Rewriter& r, const Node& node) {
  const Splat s = splat(r.old(), node.inputs[1]);
  if (!s.known || !is_float(type_out(r, node).dtype) || !(type_in(r, node, 0) == type_out(r, node)))
    return {};
  const Tensor x = r.tensor(node.inputs[0]);
  if (s.value == 1.0) return x;
  if (s.value == 2.0) return square(x);
  return {};
}

Tensor twice(Rewriter& r, const Node& node) {
  const Node* inner = producer(r, node, 0, node.op->name);
  return inner ? r.tensor(inner->inputs[0]) : Tensor();
}

Tensor same_type(Rewriter& r, const Node& node) { return pass_through(r, node, 0); }

Tensor reshape_of_reshape(Rewriter& r, const Node& node) {
  if (Tensor same = pass_through(r, node, 0); same.defined()) return same;
  const Node* inner = producer(r, node, 0, "reshape");
  return inner ? reshape(r.tensor(inner->inputs[0]), type_out(r, node).shape) : Tensor();
}

Tensor transpose_of_transpose(Rewriter& r, const Node& node) {
  const Ints& outer = node.attrs.ints("permutation");
  if (std::is_sorted(outer.begin(), outer.end())) return r.tensor(node.inputs[0]);
  const Node* inner = producer(r, node, 0, "transpose");
  if (!inner) return {};
  const Ints& first = inner->attrs.ints("permutation");
  Ints both;
  for (const int64_t axis : outer) both.push_back(first[static_cast<size_t>(axis)]);
  const Tensor x = r.tensor(inner->inputs[0]);
  return std::is_sorted(both.begin(), both.end()) ? x : transpose(x, both);
}

Tensor broadcast_of_broadcast(Rewriter& r, const Node& node) {
  if (Tensor same = pass_through(r, node, 0); same.defined()) return same;
  const Node* inner = producer(r, node, 0, "broadcast_to");
  return inner ? broadcast_to(r.tensor(inner->inputs[0]), type_out(r, node).shape) : Tensor();
}

Tensor whole_slice(Rewriter& r, const Node& node) {
  const Ints& strides = node.attrs.ints("strides");
  const bool steps = std::any_of(strides.begin(), strides.end(), [](int64_t s) { return s != 1; });
  return steps ? Tensor() : pass_through(r, node, 0);
}

Tensor single_part(Rewriter& r, const Node& node) {
  return node.inputs.size() == 1 ? r.tensor(node.inputs[0]) : Tensor();
}

// Element-wise ops broadcast by themselves: an operand broadcast before is read as it was, if the result
// keeps its shape.
Tensor bare_operands(Rewriter& r, const Node& node) {
  std::vector<Tensor> in = r.tensors(node.inputs);
  bool changed = false;
  for (size_t i = 0; i < in.size(); ++i) {
    const Node* b = producer(r, node, static_cast<int>(i), "broadcast_to");
    if (!b) continue;
    Shape shape;
    for (size_t k = 0; k < in.size(); ++k) {
      shape = broadcast(shape, k == i ? r.old().type(b->inputs[0]).shape : in[k].shape(), "simplify");
    }
    if (!(shape == type_out(r, node).shape)) continue;
    in[i] = r.tensor(b->inputs[0]);
    changed = true;
  }
  return changed ? apply(*node.op, in, node.attrs)[0] : Tensor();
}

// A float cast to a wider one keeps its value, be it infinite or NaN.
Tensor finite_of_cast(Rewriter& r, const Node& node) {
  const Node* inner = producer(r, node, 0, "cast");
  if (!inner) return {};
  const DType from = r.old().type(inner->inputs[0]).dtype, to = type_in(r, node, 0).dtype;
  if (!is_float(from) || !is_float(to) || size_of(from) >= size_of(to)) return {};
  return isfinite(r.tensor(inner->inputs[0]));
}

struct RuleFor {
  std::string_view op;
  Rule rule;
};
constexpr std::array kRules = {
    RuleFor{"multiply", times_one},
    RuleFor{"divide", times_one},
    RuleFor{"subtract", minus_zero},
    RuleFor{"add", integer_plus_zero},
    RuleFor{"power", power_of_constant},
    RuleFor{"negative", twice},
    RuleFor{"logical_not", twice},
    RuleFor{"bitwise_not", twice},
    RuleFor{"cast", same_type},
    RuleFor{"isfinite", finite_of_cast},
    RuleFor{"bitcast", same_type},
    RuleFor{"stop_gradient", same_type},
    RuleFor{"reshape", reshape_of_reshape},
    RuleFor{"transpose", transpose_of_transpose},
    RuleFor{"broadcast_to", broadcast_of_broadcast},
    RuleFor{"slice", whole_slice},
    RuleFor{"concatenate", single_part},
};

Tensor rewrite(Rewriter& r, const Node& node) {
  for (const RuleFor& rule : kRules) {
    if (rule.op != node.op->name) continue;
    if (Tensor t = rule.rule(r, node); t.defined()) return t;
  }
  return node.op->tile && node.inputs.size() > 1 ? bare_operands(r, node) : Tensor();
}

bool once(const Graph& graph, Graph* out) {
  Rewriter r(graph);
  bool changed = false;
  for (NodeId n = 0; n < graph.nodes().size(); ++n) {
    if (!r.live(n)) continue;
    const Node& node = graph.node(n);
    const std::string layer = r.graph().set_layer(node.layer);
    const Tensor replacement = node.outputs.size() == 1 ? rewrite(r, node) : Tensor();
    r.graph().set_layer(layer);
    if (replacement.defined()) {
      r.set(node.outputs[0], replacement.id());
      changed = true;
    } else {
      r.copy(n);
    }
  }
  *out = r.finish();
  return changed;
}

constexpr int kMaxRounds = 10;

}  // namespace

Graph pass_simplify(const Graph& graph) {
  Graph current;
  bool changed = once(graph, &current);
  for (int round = 0; changed && round < kMaxRounds; ++round) {
    Graph next;
    changed = once(current, &next);
    current = std::move(next);
  }
  return Rewriter(current).copy_all();
}

}  // namespace plimsoll
