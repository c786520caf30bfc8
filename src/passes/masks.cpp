// The mask of a ReLU in the backward pass goes through the gradient of the max pooling behind it:
//   where(x > 0, max_pool_grad(dy, index), 0)  ->  max_pool_grad(where(y > 0, dy, 0), index),  y, index = max_pool(x)
// because where the gradient is not zero, x is y. The mask then is as small as y, and x need not be kept.
#include "graph/op.h"
#include "passes/passes.h"
#include "passes/rewriter.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

bool is_zero(const Graph& graph, ValueId v) {
  const Splat s = splat(graph, v);
  return s.known && s.value == 0;
}

const Node* made_by(const Graph& graph, ValueId v, std::string_view op) {
  const NodeId n = graph.value(v).producer;
  return graph.is(n, op) ? &graph.node(n) : nullptr;
}

Tensor moved(Rewriter& r, const Node& mask) {
  const Graph& graph = r.old();
  const Node* positive = made_by(graph, mask.inputs[0], "greater");
  const Node* spread = made_by(graph, mask.inputs[1], "max_pool_grad");
  if (!positive || !spread || r.uses(mask.inputs[1]) != 1) return {};
  if (!is_zero(graph, positive->inputs[1]) || !is_zero(graph, mask.inputs[2])) return {};
  const Node* pool = made_by(graph, spread->inputs[1], "max_pool");
  if (!pool || pool->inputs[0] != positive->inputs[0]) return {};
  const Tensor y = r.tensor(pool->outputs[0]), dy = r.tensor(spread->inputs[0]);
  const Tensor masked = where(greater(y, scalar_like(y, 0)), dy, scalar_like(dy, 0));
  return apply1(*spread->op, {masked, r.tensor(spread->inputs[1])}, spread->attrs);
}

}  // namespace

Graph pass_masks(const Graph& graph) {
  Rewriter r(graph);
  for (NodeId n = 0; n < graph.nodes().size(); ++n) {
    if (!r.live(n)) continue;
    const Node& node = graph.node(n);
    const std::string layer = r.graph().set_layer(node.layer);
    const Tensor better = node.op->name == "where" ? moved(r, node) : Tensor();
    if (better.defined()) {
      r.set(node.outputs[0], better.id());
    } else {
      r.copy(n);
    }
    r.graph().set_layer(layer);
  }
  return r.finish();
}

}  // namespace plimsoll
