#include "passes/rewriter.h"

#include <cstring>

#include "graph/elements.h"
#include "graph/op.h"
#include "plimsoll/contents.h"

namespace plimsoll {

Rewriter::Rewriter(const Graph& old)
    : old_(old),
      map_(old.values().size(), kNone),
      live_(old.nodes().size(), false),
      uses_(old.values().size(), 0) {
  for (const GraphOutput& o : old.outputs()) ++uses_[o.value];
  for (const GraphUpdate& u : old.updates()) ++uses_[u.next];
  for (NodeId n = static_cast<NodeId>(old.nodes().size()); n-- > 0;) {
    const Node& node = old.node(n);
    for (const ValueId v : node.outputs) live_[n] = live_[n] || uses_[v] > 0;
    if (!live_[n]) continue;
    for (const ValueId v : node.inputs) ++uses_[v];
  }
  for (const GraphInput& i : old.inputs()) map_[i.value] = graph_.add_input(i.name, old.type(i.value));
  for (const GraphVariable& v : old.variables()) map_[v.value] = graph_.add_variable(v.name, v.storage);
}

std::vector<ValueId> Rewriter::map(std::span<const ValueId> old_values) const {
  std::vector<ValueId> out;
  out.reserve(old_values.size());
  for (const ValueId v : old_values) out.push_back(map_[v]);
  return out;
}

std::vector<Tensor> Rewriter::tensors(std::span<const ValueId> old_values) {
  std::vector<Tensor> out;
  out.reserve(old_values.size());
  for (const ValueId v : old_values) out.push_back(tensor(v));
  return out;
}

void Rewriter::set(NodeId old_node, std::span<const Tensor> values) {
  const Node& node = old_.node(old_node);
  for (size_t i = 0; i < node.outputs.size(); ++i) map_[node.outputs[i]] = values[i].id();
}

void Rewriter::copy(NodeId old_node) {
  const Node& node = old_.node(old_node);
  const NodeId made = graph_.add_node(*node.op, map(node.inputs), node.attrs, node.layer);
  for (size_t i = 0; i < node.outputs.size(); ++i) map_[node.outputs[i]] = graph_.node(made).outputs[i];
}

Graph Rewriter::finish() {
  for (const GraphOutput& o : old_.outputs()) graph_.add_output(o.name, map_[o.value]);
  for (const GraphUpdate& u : old_.updates()) graph_.add_update(map_[u.variable], map_[u.next]);
  return std::move(graph_);
}

Graph Rewriter::copy_all() {
  for (NodeId n = 0; n < old_.nodes().size(); ++n) {
    if (live_[n]) copy(n);
  }
  return finish();
}

Splat splat(const Graph& graph, ValueId v) {
  NodeId n = graph.value(v).producer;
  while (graph.is(n, "broadcast_to") || graph.is(n, "reshape") || graph.is(n, "cast")) {
    n = graph.value(graph.node(n).inputs[0]).producer;
  }
  if (!graph.is(n, "constant")) return {};
  const Tensor& t = graph.node(n).attrs.tensor("value");
  const int64_t count = t.shape().elements();
  if (count == 0 || is_complex(t.dtype())) return {};
  const char* bytes = static_cast<const char*>(read_bytes(t));
  const size_t step = size_of(t.dtype());
  // Bytes that repeat with the period of one element.
  if (count > 1 && std::memcmp(bytes, bytes + step, step * static_cast<size_t>(count - 1)) != 0) return {};
  return {true, read_element(t.dtype(), bytes)};
}

}  // namespace plimsoll
