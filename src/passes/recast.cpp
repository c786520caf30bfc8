// Under a mixed policy a step casts each weight, and its input, to halves, and both the forward and the
// backward pass read the result. What is cast is there all the time: casting it again right before each
// reader costs one pass over it, and no halves are kept from the first pass to the second.
#include "graph/op.h"
#include "passes/passes.h"
#include "passes/rewriter.h"

namespace plimsoll {
namespace {

// A cast to fewer bytes of an input or a variable, or another view of one.
bool is_recast(const Graph& graph, ValueId v) {
  const NodeId p = graph.value(v).producer;
  if (p == kNone) return false;
  const Node& node = graph.node(p);
  if (node.inputs.size() != 1) return false;
  if (node.op->alias) return is_recast(graph, node.inputs[0]);
  return node.op->name == "cast" && graph.value(node.inputs[0]).producer == kNone &&
         size_of(graph.type(v).dtype) < size_of(graph.type(node.inputs[0]).dtype);
}

void copy_again(Rewriter& r, ValueId v) {
  const NodeId p = r.old().value(v).producer;
  const ValueId from = r.old().node(p).inputs[0];
  if (is_recast(r.old(), from)) copy_again(r, from);
  r.copy(p);
}

Graph cast_first(const Graph& graph) {
  Rewriter r(graph);
  std::vector<bool> first(graph.nodes().size(), false);
  for (NodeId n = 0; n < graph.nodes().size(); ++n) {
    first[n] = r.live(n) && is_recast(graph, graph.node(n).outputs[0]);
    if (first[n]) r.copy(n);
  }
  for (NodeId n = 0; n < graph.nodes().size(); ++n)
    if (r.live(n) && !first[n]) r.copy(n);
  return r.finish();
}

}  // namespace

Graph pass_recast(const Graph& graph, const Capabilities& can) {
  if (can.limits().joins) return cast_first(graph);
  Rewriter r(graph);
  for (NodeId n = 0; n < graph.nodes().size(); ++n) {
    if (!r.live(n)) continue;
    const Node& node = graph.node(n);
    if (!is_recast(graph, node.outputs[0])) {
      for (const ValueId v : node.inputs) {
        if (is_recast(graph, v)) copy_again(r, v);
      }
    }
    r.copy(n);
  }
  return Rewriter(r.finish()).copy_all();  // without those that were copied and are read no more
}

}  // namespace plimsoll
