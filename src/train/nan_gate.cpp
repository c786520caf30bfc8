#include "train/nan_gate.h"

#include "plimsoll/graph.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"

namespace plimsoll {
namespace {

// Of the gradient of a table of embeddings the rows are looked at that it is summed from: to ask the sum, it
// would have to be made (passes/match_table_update).
Tensor is_finite(const Tensor& gradient) {
  if (!gradient.is_symbolic()) return all(isfinite(gradient));
  Graph& graph = gradient.graph();
  const NodeId made = graph.value(gradient.id()).producer;
  const bool summed = made != kNone && graph.is(made, "embedding_grad");
  return all(isfinite(summed ? Tensor(graph, graph.node(made).inputs[1]) : gradient));
}

}  // namespace

NanGate make_nan_gate(const Tensor& loss, std::span<const Tensor> gradients, NanWatching watching) {
  NanGate gate;
  if (watching == NanWatching::off) return gate;
  gate.finite = gate.all = isfinite(loss);
  for (const Tensor& g : gradients) {
    gate.own.push_back(is_finite(g));
    gate.finite = bitwise_and(gate.finite, gate.own.back());
  }
  if (watching == NanWatching::each) return gate;
  gate.all = gate.finite;
  gate.own.clear();
  return gate;
}

}  // namespace plimsoll
