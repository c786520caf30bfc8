// A scan saves its carries for a gradient that may never be asked for: where nobody reads them, it does not.
#include "graph/op.h"
#include "passes/passes.h"
#include "passes/rewriter.h"

namespace plimsoll {
namespace {

bool saves_in_vain(const Rewriter& r, const Node& node) {
  if (node.op->name != "scan" || !node.attrs.flag("save")) return false;
  const size_t read = node.outputs.size() - static_cast<size_t>(node.attrs.integer("carries"));
  for (size_t i = read; i < node.outputs.size(); ++i) {
    if (r.uses(node.outputs[i]) > 0) return false;
  }
  return true;
}

}  // namespace

Graph pass_trim(const Graph& graph) {
  Rewriter r(graph);
  for (NodeId n = 0; n < graph.nodes().size(); ++n) {
    if (!r.live(n)) continue;
    const Node& node = graph.node(n);
    if (!saves_in_vain(r, node)) {
      r.copy(n);
      continue;
    }
    Attrs attrs = node.attrs;
    attrs.set("save", false);
    const NodeId made = r.graph().add_node(*node.op, r.map(node.inputs), std::move(attrs), node.layer);
    const std::vector<ValueId>& outputs = r.graph().node(made).outputs;
    for (size_t i = 0; i < outputs.size(); ++i) r.set(node.outputs[i], outputs[i]);
  }
  return r.finish();
}

}  // namespace plimsoll
