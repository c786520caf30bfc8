// Common sub-expressions: a pure node with the op, inputs and attributes of an earlier one is that one.
#include <unordered_map>

#include "graph/elements.h"
#include "graph/op.h"
#include "passes/passes.h"
#include "passes/rewriter.h"
#include "plimsoll/contents.h"

namespace plimsoll {
namespace {

// Constants made anew for each use of a number (x * 2.0) are equal by content, not by identity.
bool same_scalar(const Attrs& a, const Attrs& b) {
  const Tensor& x = a.tensor("value");
  const Tensor& y = b.tensor("value");
  return x.type() == y.type() && x.shape().elements() == 1 &&
         element_text(x.dtype(), read_bytes(x)) == element_text(y.dtype(), read_bytes(y));
}

struct Key {
  const Graph* graph;
  NodeId node;

  bool operator==(const Key& other) const {
    const Node& a = graph->node(node);
    const Node& b = graph->node(other.node);
    if (a.op != b.op || a.inputs != b.inputs) return false;
    return a.attrs == b.attrs || (a.op->name == "constant" && same_scalar(a.attrs, b.attrs));
  }
};

struct KeyHash {
  size_t operator()(const Key& key) const {
    const Node& n = key.graph->node(key.node);
    size_t h = std::hash<const void*>()(n.op);
    for (const ValueId v : n.inputs) h = h * 1000003 + v;
    if (n.op->name == "constant") return h + n.attrs.tensor("value").shape().elements();
    return h * 1000003 + n.attrs.hash();
  }
};

}  // namespace

Graph pass_share(const Graph& graph) {
  Rewriter r(graph);
  std::unordered_map<Key, NodeId, KeyHash> seen;  // nodes of the new graph
  for (NodeId n = 0; n < graph.nodes().size(); ++n) {
    if (!r.live(n)) continue;
    r.copy(n);
    const Node& old = graph.node(n);
    if (!old.op->pure) continue;
    const NodeId made = r.graph().value(r.map(old.outputs[0])).producer;
    const auto [it, fresh] = seen.try_emplace(Key{&r.graph(), made}, made);
    if (fresh) continue;
    const Node& earlier = r.graph().node(it->second);
    for (size_t i = 0; i < old.outputs.size(); ++i) r.set(old.outputs[i], earlier.outputs[i]);
  }
  Graph shared = r.finish();
  return Rewriter(shared).copy_all();  // drop the duplicates
}

}  // namespace plimsoll
