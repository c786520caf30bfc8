#include "passes/passes.h"

#include <algorithm>
#include <array>

#include "plimsoll/error.h"

namespace plimsoll {
namespace {

// Simplifying and sharing open the way for each other and for folding; matching wants clean chains; fusing
// comes after all that, and casting again what was shared last.
constexpr std::array kPasses = {
    Pass{"lower", pass_lower}, Pass{"trim", pass_trim},     Pass{"simplify", pass_simplify},
    Pass{"fold", pass_fold},   Pass{"share", pass_share},   Pass{"layout", pass_layout},
    Pass{"masks", pass_masks}, Pass{"norm", pass_norm},     Pass{"match", pass_match},
    Pass{"fuse", pass_fuse},   Pass{"recast", pass_recast},
};

Graph checked(Graph graph) {
#ifndef NDEBUG
  graph.verify();
#endif
  return graph;
}

}  // namespace

std::span<const Pass> all_passes() { return kPasses; }

Graph run_passes(const Graph& graph, std::span<const std::string> skip) {
  for (const std::string& name : skip) {
    const bool known = name == "all" || std::any_of(kPasses.begin(), kPasses.end(),
                                                    [&](const Pass& p) { return p.name == name; });
    require(known, "passes", "expected the name of a pass to skip, got '", name, "'");
  }
  const auto skipped = [&](std::string_view name) {
    return std::any_of(skip.begin(), skip.end(),
                       [&](const std::string& s) { return s == name || s == "all"; });
  };
  Graph current = checked(pass_lower(graph));
  for (const Pass& pass : kPasses) {
    if (pass.run != pass_lower && !skipped(pass.name)) current = checked(pass.run(current));
  }
  return current;
}

}  // namespace plimsoll
