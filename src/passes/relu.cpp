// The mask of a ReLU in the backward pass reads the ReLU's result instead of its input:
//   y = relu(z),  where(z > 0, dy, 0)  ->  where(y > 0, dy, 0)
// which are the same places. Then z need not be kept, an activation can join what makes z, and a mask can go
// through the pooling behind it. Behind a batch normalisation pass_norm wants it as it is.
#include <array>
#include <vector>

#include "graph/op.h"
#include "passes/passes.h"
#include "passes/rewriter.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

bool is_normalised(const Graph& graph, ValueId v) {
  const NodeId n = graph.value(v).producer;
  if (graph.is(n, "batch_norm")) return true;
  if (!graph.is(n, "add")) return false;
  const auto& in = graph.node(n).inputs;
  return graph.is(graph.value(in[0]).producer, "batch_norm") ||
         graph.is(graph.value(in[1]).producer, "batch_norm");
}

// For each value, what a live ReLU makes of it.
std::vector<ValueId> relu_results(const Rewriter& r) {
  const Graph& graph = r.old();
  std::vector<ValueId> results(graph.values().size(), kNone);
  for (NodeId n = 0; n < graph.nodes().size(); ++n) {
    if (r.live(n) && graph.is(n, "relu")) results[graph.node(n).inputs[0]] = graph.node(n).outputs[0];
  }
  return results;
}

}  // namespace

Graph pass_relu(const Graph& graph) {
  Rewriter r(graph);
  const std::vector<ValueId> results = relu_results(r);
  for (NodeId n = 0; n < graph.nodes().size(); ++n) {
    if (!r.live(n)) continue;
    const Node& node = graph.node(n);
    const ValueId y = graph.is(n, "greater") ? results[node.inputs[0]] : kNone;
    const bool made = y != kNone && graph.value(y).producer < n && !is_normalised(graph, node.inputs[0]);
    const Splat bound = made ? splat(graph, node.inputs[1]) : Splat{};
    if (!bound.known || bound.value != 0) {
      r.copy(n);
      continue;
    }
    const std::string layer = r.graph().set_layer(node.layer);
    r.set(n, std::array{greater(r.tensor(y), r.tensor(node.inputs[1]))});
    r.graph().set_layer(layer);
  }
  return r.finish();
}

}  // namespace plimsoll
