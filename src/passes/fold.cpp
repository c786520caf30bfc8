// Constant folding: a pure node all of whose inputs are constants is computed when the program is made,
// unless that would make the program's constants much larger (a broadcast of a scalar stays a broadcast).
#include <algorithm>

#include "graph/op.h"
#include "passes/passes.h"
#include "passes/rewriter.h"

namespace plimsoll {
namespace {

constexpr int64_t kSmall = 1024;  // bytes that may be stored even if the inputs were smaller

bool foldable(const Graph& graph, const Node& node, const std::vector<bool>& constant) {
  if (!node.op->pure || node.op->name == "constant") return false;
  int64_t in = 0, out = 0;
  for (const ValueId v : node.inputs) {
    if (!constant[v]) return false;
    in += byte_size(graph.type(v).dtype, graph.type(v).shape);
  }
  for (const ValueId v : node.outputs) out += byte_size(graph.type(v).dtype, graph.type(v).shape);
  return out <= std::max(in, kSmall);
}

}  // namespace

Graph pass_fold(const Graph& graph) {
  Rewriter r(graph);
  std::vector<bool> constant(graph.values().size(), false);
  std::vector<Tensor> known(graph.values().size());
  for (NodeId n = 0; n < graph.nodes().size(); ++n) {
    if (!r.live(n)) continue;
    const Node& node = graph.node(n);
    if (node.op->name == "constant") {
      known[node.outputs[0]] = node.attrs.tensor("value");
      constant[node.outputs[0]] = true;
    } else if (foldable(graph, node, constant)) {
      std::vector<Tensor> in;
      for (const ValueId v : node.inputs) in.push_back(known[v]);
      const std::vector<Tensor> out = apply_eager(*node.op, in, node.attrs);
      for (size_t i = 0; i < out.size(); ++i) {
        known[node.outputs[i]] = out[i];
        constant[node.outputs[i]] = true;
        r.set(node.outputs[i], r.graph().constant(out[i]).id());
      }
      continue;
    }
    r.copy(n);
  }
  Graph folded = r.finish();
  return Rewriter(folded).copy_all();
}

}  // namespace plimsoll
