// Graph::verify(): every rule a graph must keep, checked after each pass in debug builds and in tests.
#include "graph/op.h"
#include "plimsoll/error.h"
#include "plimsoll/graph.h"

namespace plimsoll {
namespace {

template <class... Parts>
void rule(bool ok, const Graph& graph, size_t node, const Parts&... parts) {
  if (ok) return;
  const Node& n = graph.nodes()[node];
  fail(ErrorKind::internal, "verify", "node ", node, " (", n.op ? n.op->name : "no op",
       n.layer.empty() ? "" : " in ", n.layer, "): ", concat(parts...));
}

void check_node(const Graph& graph, size_t i, const std::vector<bool>& made) {
  const Node& node = graph.nodes()[i];
  rule(node.op != nullptr, graph, i, "has no op");
  std::vector<TensorType> in;
  for (const ValueId v : node.inputs) {
    rule(v < made.size(), graph, i, "reads value ", v, ", which does not exist");
    rule(made[v], graph, i, "reads value ", v, " before it is made");
    in.push_back(graph.type(v));
  }
  const std::vector<TensorType> out = infer_types(*node.op, in, node.attrs);
  rule(out.size() == node.outputs.size(), graph, i, "expected ", out.size(), " outputs, got ",
       node.outputs.size());
  for (size_t k = 0; k < out.size(); ++k) {
    const ValueId v = node.outputs[k];
    rule(v < made.size(), graph, i, "makes value ", v, ", which does not exist");
    rule(!made[v], graph, i, "makes value ", v, " a second time");
    rule(graph.value(v).producer == i, graph, i, "value ", v, " names another producer");
    rule(graph.type(v) == out[k], graph, i, "output ", k, " has type ", graph.type(v), ", inferred ", out[k]);
  }
}

}  // namespace

void Graph::verify() const {
  std::vector<bool> made(values_.size(), false);
  for (const GraphInput& input : inputs_) made[input.value] = true;
  for (const GraphVariable& variable : variables_) made[variable.value] = true;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    check_node(*this, i, made);
    for (const ValueId v : nodes_[i].outputs) made[v] = true;
  }
  for (const GraphOutput& o : outputs_) {
    if (o.value >= made.size() || !made[o.value]) {
      fail(ErrorKind::internal, "verify", "output ", o.name, " names a value that no node makes");
    }
  }
  for (const GraphUpdate& u : updates_) {
    if (u.next >= made.size() || !made[u.next] || !(type(u.next) == type(u.variable))) {
      fail(ErrorKind::internal, "verify", "the update of value ", u.variable, " does not fit");
    }
  }
}

}  // namespace plimsoll
