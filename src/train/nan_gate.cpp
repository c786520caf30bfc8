#include "train/nan_gate.h"

#include "plimsoll/graph.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

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

// Whether all flags, of shape (1), are true; in nodes of its own. bitwise_and() would be fused, and with it
// the guards of all updates into one node: each of these would wait for all gradients.
Tensor alone(const std::vector<Tensor>& flags) { return all(concatenate(flags, 0)); }

}  // namespace

NanGate make_nan_gate(const Tensor& loss, std::span<const Tensor> gradients, NanWatching watching) {
  NanGate gate;
  if (watching == NanWatching::off) return gate;
  const Tensor flag = reshape(isfinite(loss), {1});
  gate.all = alone({flag, flag});
  std::vector<Tensor> flags = {flag};
  for (const Tensor& g : gradients) {
    gate.own.push_back(is_finite(g));
    flags.push_back(reshape(gate.own.back(), {1}));
  }
  gate.finite = alone(flags);
  if (watching == NanWatching::each) return gate;
  gate.all = gate.finite;
  gate.own.clear();
  return gate;
}

}  // namespace plimsoll
