#include "exec/steps.h"

#include <algorithm>

#include "graph/capabilities.h"
#include "plimsoll/error.h"

namespace plimsoll {

int64_t graph_bytes(const Graph& graph) {
  // About: tests/allocations/step_test.cpp holds it to what malloc sees, within a twentieth (0017).
  constexpr int64_t kNode = 3 << 10;
  return kNode * static_cast<int64_t>(graph.nodes().size());
}

std::string name_of_step(const Node& node, const std::string& kernel) {
  return concat(node_name(node), " [", kernel, "]");
}

bool is_updated(const Graph& graph, ValueId variable) {
  return std::ranges::any_of(graph.updates(), [&](const GraphUpdate& u) { return u.variable == variable; });
}

std::string Steps::text() const {
  std::string out;
  for (size_t i = 0; i < size(); ++i) {
    const NodeId id = plan().order()[i];
    out += concat(i, ": ", step_name(i), " ->");
    for (const ValueId v : graph().node(id).outputs) {
      const Place& p = plan().place(v);
      out += concat(" ", graph().type(v), p.kind == Place::Kind::arena ? concat("@", p.at) : std::string());
    }
    if (scratch_bytes(id) > 0) out += concat(" scratch ", scratch_bytes(id), "@", plan().scratch(id));
    out += "\n";
  }
  for (const PlanCopy& c : plan().copies())
    out += concat("copy value ", c.from, " ", graph().type(c.from), "\n");
  return out;
}

}  // namespace plimsoll
