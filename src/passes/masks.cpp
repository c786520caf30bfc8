// The mask of a ReLU in the backward pass goes through the gradient of the max pooling behind it:
//   where(x > 0, max_pool_grad(dy, index), 0)  ->  max_pool_grad(where(y > 0, dy, 0), index),  y, index =
//   max_pool(x)
// because where the gradient is not zero, x is y. The mask then is as small as y, and x need not be kept. The
// mask of a ReLU whose result x was normalised goes into that gradient's own pass over x (input_relu). And
// where nobody asks which element was the maximum, a max pooling does not say.
#include <vector>

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

Tensor through_pool(Rewriter& r, const Node& mask, const Node& positive) {
  const Graph& graph = r.old();
  const Node* spread = made_by(graph, mask.inputs[1], "max_pool_grad");
  const Node* pool = spread ? made_by(graph, spread->inputs[1], "max_pool") : nullptr;
  if (!pool || pool->inputs[0] != positive.inputs[0]) return {};
  const Tensor y = r.tensor(pool->outputs[0]), dy = r.tensor(spread->inputs[0]);
  const Tensor masked = where(greater(y, scalar_like(y, 0)), dy, scalar_like(dy, 0));
  return apply1(*spread->op, {masked, r.tensor(spread->inputs[1])}, spread->attrs);
}

// The node x > 0 of where(x > 0, gradient that nobody else reads, 0), if that is what `mask` is.
const Node* relu_mask(const Rewriter& r, const Node& mask) {
  const Node* positive = made_by(r.old(), mask.inputs[0], "greater");
  const bool zeros = positive && is_zero(r.old(), positive->inputs[1]) && is_zero(r.old(), mask.inputs[2]);
  return zeros && r.uses(mask.inputs[1]) == 1 ? positive : nullptr;
}

bool is_mask_of_norm(const Rewriter& r, const Node& mask) {
  const Node* positive = relu_mask(r, mask);
  const Node* norm = positive ? made_by(r.old(), mask.inputs[1], "batch_norm_grad") : nullptr;
  return norm && norm->outputs[0] == mask.inputs[1] && norm->inputs[1] == positive->inputs[0];
}

Tensor better_mask(Rewriter& r, const Node& mask) {
  const Node* positive = relu_mask(r, mask);
  if (!positive) return {};
  if (is_mask_of_norm(r, mask)) return r.tensor(mask.inputs[1]);  // done there already
  return through_pool(r, mask, *positive);
}

void put_masked(Rewriter& r, NodeId norm) {
  const Node& node = r.old().node(norm);
  Attrs attrs = node.attrs;
  attrs.set("input_relu", true);
  r.set(norm, plimsoll::apply(*node.op, r.tensors(node.inputs), std::move(attrs)));
}

// Without the index that nobody reads.
Tensor plain_pool(Rewriter& r, const Node& pool) {
  if (pool.outputs.size() != 2 || r.uses(pool.outputs[1]) != 0) return {};
  Attrs attrs = pool.attrs;
  attrs.set("index", false);
  return apply1(*pool.op, {r.tensor(pool.inputs[0])}, std::move(attrs));
}

}  // namespace

Graph pass_masks(const Graph& graph) {
  Rewriter r(graph);
  std::vector<bool> masked(graph.nodes().size(), false);  // gradients of normalisations that take a mask
  for (NodeId n = 0; n < graph.nodes().size(); ++n) {
    if (!r.live(n) || !graph.is(n, "where") || !is_mask_of_norm(r, graph.node(n))) continue;
    masked[graph.value(graph.node(n).inputs[1]).producer] = true;
  }
  for (NodeId n = 0; n < graph.nodes().size(); ++n) {
    if (!r.live(n)) continue;
    const Node& node = graph.node(n);
    const std::string layer = r.graph().set_layer(node.layer);
    Tensor better;
    if (graph.is(n, "where")) better = better_mask(r, node);
    if (graph.is(n, "max_pool")) better = plain_pool(r, node);
    if (better.defined()) {
      r.set(node.outputs[0], better.id());
    } else if (masked[n]) {
      put_masked(r, n);
    } else {
      r.copy(n);
    }
    r.graph().set_layer(layer);
  }
  return r.finish();
}

}  // namespace plimsoll
