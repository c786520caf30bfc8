#include "support/graph_json.h"

#include <string>
#include <vector>

#include "graph/op.h"
#include "support/fill.h"

namespace plimsoll::testing {

using nlohmann::json;

namespace {

json tensor_json(const Tensor& t) {
  std::vector<double> values;
  for (int64_t i = 0; i < parts(t); ++i) values.push_back(element(t, i));
  json out = type_json(t.type());
  out["values"] = values;
  return out;
}

json attr_json(const Attr& attr) {
  switch (kind_of(attr)) {
    case AttrKind::boolean: return std::get<bool>(attr);
    case AttrKind::integer: return std::get<int64_t>(attr);
    case AttrKind::real: return std::get<double>(attr);
    case AttrKind::string: return std::get<std::string>(attr);
    case AttrKind::ints: return std::get<Ints>(attr);
    case AttrKind::dtype: return std::string(name_of(std::get<DType>(attr)));
    case AttrKind::graph: return graph_json(*std::get<std::shared_ptr<const Graph>>(attr));
    case AttrKind::tensor: break;
  }
  return tensor_json(std::get<Tensor>(attr));
}

template <class List>
json ids_of(const List& list) {
  json ids = json::array();
  for (const auto& one : list) ids.push_back(one.value);
  return ids;
}

json node_json(const Graph& graph, const Node& node) {
  json types = json::array();
  for (const ValueId id : node.outputs) types.push_back(type_json(graph.type(id)));
  return {{"op", std::string(node.op->name)},
          {"in", node.inputs},
          {"out", node.outputs},
          {"types", types},
          {"attrs", attrs_json(node.attrs)}};
}

}  // namespace

json type_json(const TensorType& type) {
  return {{"dtype", std::string(name_of(type.dtype))},
          {"shape", std::vector<int64_t>(type.shape.begin(), type.shape.end())}};
}

json attrs_json(const Attrs& attrs) {
  json out = json::object();
  for (const auto& [name, value] : attrs) out[name] = attr_json(value);
  return out;
}

json graph_json(const Graph& graph) {
  json nodes = json::array(), updates = json::array();
  for (const Node& node : graph.nodes()) nodes.push_back(node_json(graph, node));
  for (const GraphUpdate& update : graph.updates()) updates.push_back({update.variable, update.next});
  return {{"inputs", ids_of(graph.inputs())},
          {"variables", ids_of(graph.variables())},
          {"nodes", nodes},
          {"outputs", ids_of(graph.outputs())},
          {"updates", updates}};
}

}  // namespace plimsoll::testing
