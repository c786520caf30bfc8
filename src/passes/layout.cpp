// One layout from first to last layer: a model written channels-first reaches the engine as transposes around
// every convolution. Moving a transpose down through element-wise ops lets it meet its inverse, and both
// vanish (simplify).
#include <algorithm>

#include "graph/op.h"
#include "passes/passes.h"
#include "passes/rewriter.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

constexpr int kMaxRounds = 16;

const Ints* permutation(const Graph& graph, ValueId v) {
  const NodeId p = graph.value(v).producer;
  return graph.is(p, "transpose") ? &graph.node(p).attrs.ints("permutation") : nullptr;
}

Ints inverse(const Ints& permutation) {
  Ints out(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i)
    out[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
  return out;
}

// The operand as it was before the transpose; other operands of smaller rank get axes of size 1 and move the
// other way.
Tensor moved_operand(Rewriter& r, ValueId v, const Ints& perm) {
  const Graph& old = r.old();
  if (const Ints* own = permutation(old, v); own && *own == perm) {
    return r.tensor(old.node(old.value(v).producer).inputs[0]);
  }
  Tensor t = r.tensor(v);
  if (t.shape().elements() == 1) return t;
  while (t.rank() < static_cast<int>(perm.size())) t = expand_dims(t, 0);
  return transpose(t, inverse(perm));
}

// Moves only if every large operand comes from the same transpose: else it would make transposes, not remove
// them.
const Ints* common_permutation(const Rewriter& r, const Node& node) {
  const Graph& old = r.old();
  const Shape& out = old.type(node.outputs[0]).shape;
  const Ints* common = nullptr;
  for (const ValueId v : node.inputs) {
    if (!(old.type(v).shape == out)) continue;
    const Ints* own = permutation(old, v);
    if (!own || (common && *common != *own)) return nullptr;
    common = own;
  }
  return common;
}

bool once(const Graph& graph, Graph* out) {
  Rewriter r(graph);
  bool changed = false;
  for (NodeId n = 0; n < graph.nodes().size(); ++n) {
    if (!r.live(n)) continue;
    const Node& node = graph.node(n);
    const Ints* perm = node.op->tile && node.outputs.size() == 1 ? common_permutation(r, node) : nullptr;
    if (!perm) {
      r.copy(n);
      continue;
    }
    const std::string layer = r.graph().set_layer(node.layer);
    std::vector<Tensor> in;
    for (const ValueId v : node.inputs) in.push_back(moved_operand(r, v, *perm));
    r.set(node.outputs[0], transpose(apply(*node.op, in, node.attrs)[0], *perm).id());
    r.graph().set_layer(layer);
    changed = true;
  }
  *out = r.finish();
  return changed;
}

}  // namespace

Graph pass_layout(const Graph& graph) {
  const auto is_transpose = [](const Node& n) { return n.op->name == "transpose"; };
  if (std::none_of(graph.nodes().begin(), graph.nodes().end(), is_transpose))
    return Rewriter(graph).copy_all();
  Graph current = Rewriter(graph).copy_all();
  for (int round = 0; round < kMaxRounds; ++round) {
    Graph next;
    const bool changed = once(current, &next);
    current = pass_simplify(next);
    if (!changed) break;
  }
  return current;
}

}  // namespace plimsoll
