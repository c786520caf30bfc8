#include "exec/steps.h"

#include <algorithm>
#include <map>

#include "graph/capabilities.h"
#include "graph/op.h"
#include "plimsoll/error.h"

namespace plimsoll {

int64_t graph_bytes(size_t nodes) {
  // About: tests/allocations/step_test.cpp holds it to what malloc sees, within a twentieth (0017).
  constexpr int64_t kNode = 3 << 10;
  return kNode * static_cast<int64_t>(nodes);
}

std::string name_of_step(const Node& node, const std::string& kernel) {
  return concat(node_name(node), " [", kernel, "]");
}

bool is_updated(const Graph& graph, ValueId variable) {
  return std::ranges::any_of(graph.updates(), [&](const GraphUpdate& u) { return u.variable == variable; });
}

std::string Steps::text() const {
  std::string out;
  const std::vector<int64_t> bytes = scratch();
  for (size_t i = 0; i < size(); ++i) {
    const NodeId id = plan().order()[i];
    out += concat(i, ": ", step_name(i), runs_again(i) ? " again ->" : " ->");
    for (const ValueId v : graph().node(id).outputs) {
      const Place& p = plan().place(v);
      out += concat(" ", graph().type(v), p.kind == Place::Kind::arena ? concat("@", p.at) : std::string());
    }
    if (bytes[id] > 0) out += concat(" scratch ", bytes[id], "@", plan().scratch(id));
    out += "\n";
  }
  for (const PlanCopy& c : plan().copies())
    out += concat("copy value ", c.from, " ", graph().type(c.from), "\n");
  return out;
}

std::vector<bool> repeated(std::span<const NodeId> from) {
  std::vector<bool> again(from.size(), false), seen;
  for (size_t n = 0; n < from.size(); ++n) {
    if (from[n] >= seen.size()) seen.resize(from[n] + 1, false);
    again[n] = seen[from[n]];
    seen[from[n]] = true;
  }
  return again;
}

std::vector<ArenaSpan> Steps::timeline() const {
  std::vector<ArenaSpan> spans;
  const std::vector<int64_t> wanted = scratch();
  std::map<int64_t, size_t> open;  // by offset: the span whose bytes are there
  const auto end = static_cast<int64_t>(size());
  for (size_t i = 0; i < size(); ++i) {
    const Node& node = graph().node(plan().order()[i]);
    const auto step = static_cast<int64_t>(i);
    ArenaSpan span{.layer = node.layer,
                   .what = std::string(node.op->name),
                   .first = step,
                   .last = end,
                   .again = runs_again(i)};
    for (const ValueId v : node.outputs) {
      if (plan().place(v).kind != Place::Kind::arena) continue;
      span.offset = plan().place(v).at;
      span.bytes = byte_size(graph().type(v).dtype, graph().type(v).shape);
      span.what = concat(node.op->name, " ", graph().type(v));
      // An output in place of an input ends its span.
      if (const auto held = open.find(span.offset); held != open.end()) spans[held->second].last = step - 1;
      open[span.offset] = spans.size();
      spans.push_back(span);
    }
    for (const ValueId v : plan().dying(i)) {
      const auto held = open.find(plan().place(v).at);
      if (held == open.end()) continue;
      spans[held->second].last = step;
      open.erase(held);
    }
    if (const int64_t bytes = wanted[plan().order()[i]]; bytes > 0) {
      span.what = concat("scratch of ", node.op->name);
      span.offset = plan().scratch(plan().order()[i]);
      span.bytes = bytes;
      span.last = step;
      span.scratch = true;
      spans.push_back(span);
    }
  }
  return spans;
}

}  // namespace plimsoll
