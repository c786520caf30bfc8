// Ops that the device has no code for become their parts, and the parts theirs.
#include <algorithm>

#include "graph/capabilities.h"
#include "passes/passes.h"
#include "passes/rewriter.h"

namespace plimsoll {
namespace {

constexpr int kMaxRounds = 8;  // of ops made of ops made of ops

bool must_go(const Graph& graph, const Node& node, const Capabilities& can) {
  if (!node.op->decompose || !has_code(node)) return false;
  const NodeCall n(graph, node);
  return !can.runs(n.call(), n.out);
}

}  // namespace

bool has_to_lower(const Graph& graph, const Capabilities& can) {
  return std::ranges::any_of(graph.nodes(), [&](const Node& n) { return must_go(graph, n, can); });
}

Graph pass_lower(const Graph& graph, const Capabilities& can) {
  Graph current = Rewriter(graph).copy_all();
  for (int round = 0; round < kMaxRounds && has_to_lower(current, can); ++round) {
    Rewriter r(current);
    for (NodeId n = 0; n < current.nodes().size(); ++n) {
      const Node& node = current.node(n);
      if (!r.live(n)) continue;
      if (!must_go(current, node, can)) {
        r.copy(n);
        continue;
      }
      const std::string layer = r.graph().set_layer(node.layer);
      r.set(n, node.op->decompose(r.tensors(node.inputs), node.attrs));
      r.graph().set_layer(layer);
    }
    current = r.finish();
  }
  return current;
}

}  // namespace plimsoll
