#include "steady.h"

#include <cstddef>

namespace plimsoll::cuda {
namespace {

bool has_program(const Node& node) {
  for (int32_t i = 0; i < node.get().attr_count; ++i)
    if (node.get().attrs[i].kind == PLIMSOLL_ATTR_GRAPH && node.op() != "fused") return true;
  return false;
}

bool writes_variables(const plimsoll_graph& graph) {
  constexpr size_t kEnough = offsetof(plimsoll_graph, update_count) + sizeof graph.update_count;
  return graph.size < kEnough || graph.update_count > 0;
}

}  // namespace

Steady::Steady(const plimsoll_graph& graph)
    : values(static_cast<size_t>(graph.value_count), false),
      nodes(static_cast<size_t>(graph.node_count), false),
      offsets(static_cast<size_t>(graph.value_count), -1) {
  if (writes_variables(graph) || graph.variable_count == 0) return;
  for (int32_t i = 0; i < graph.variable_count; ++i) values[static_cast<size_t>(graph.variables[i])] = true;
  for (int32_t n = 0; n < graph.node_count; ++n) {
    const Node node(graph, n);
    bool all = node.input_count() > 0 ? !has_program(node) : node.op() == "constant";
    for (size_t i = 0; i < node.input_count(); ++i) all = all && values[static_cast<size_t>(node.input(i))];
    if (!all) continue;
    nodes[static_cast<size_t>(n)] = node.runs();
    for (size_t k = 0; k < node.output_count(); ++k) {
      const auto out = static_cast<size_t>(node.output(k));
      values[out] = true;
      if (node.runs())
        offsets[out] = keep(node.out(k).bytes());
      else if (node.get().alias != 0)
        offsets[out] = offsets[static_cast<size_t>(node.input(0))];
    }
  }
  if (!gives(graph)) return;
  values.assign(values.size(), false);
  nodes.assign(nodes.size(), false);
  offsets.assign(offsets.size(), -1);
  bytes = 0;
}

// What a run gives out is written in every run.
bool Steady::gives(const plimsoll_graph& graph) const {
  for (int32_t i = 0; i < graph.output_count; ++i)
    if (values[static_cast<size_t>(graph.outputs[i])]) return true;
  return false;
}

int64_t Steady::keep(int64_t more) {
  const int64_t at = bytes;
  bytes += (more + 255) / 256 * 256;
  return at;
}

}  // namespace plimsoll::cuda
