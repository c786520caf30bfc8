#include "passes/passes.h"

#include <algorithm>
#include <array>
#include <span>

#include "plimsoll/error.h"

namespace plimsoll {
namespace {

// Simplifying and sharing open the way for each other and for folding; matching wants clean chains; fusing
// comes after all that, and casting again what was shared last.
template <Graph (*F)(const Graph&)>
Graph on_any_device(const Graph& graph, const Capabilities&) {
  return F(graph);
}

constexpr std::array kPasses = {
    Pass{"lower", pass_lower},
    Pass{"trim", on_any_device<pass_trim>},
    Pass{"simplify", on_any_device<pass_simplify>},
    Pass{"fold", on_any_device<pass_fold>},
    Pass{"share", on_any_device<pass_share>},
    Pass{"layout", on_any_device<pass_layout>},
    Pass{"statistics", on_any_device<pass_statistics>},
    Pass{"relu", on_any_device<pass_relu>},
    Pass{"masks", on_any_device<pass_masks>},
    Pass{"norm", on_any_device<pass_norm>},
    Pass{"bias", on_any_device<pass_bias>},
    Pass{"match", on_any_device<pass_match>},
    Pass{"lower", pass_lower},
    Pass{"pool", pass_pool},
    Pass{"fuse", pass_fuse},
    Pass{"recast", pass_recast},
};

Graph checked(Graph graph) {
#ifndef NDEBUG
  graph.verify();
#endif
  return graph;
}

}  // namespace

std::span<const Pass> all_passes() { return kPasses; }

Graph run_passes(const Graph& graph, std::span<const std::string> skip, const Capabilities& can) {
  for (const std::string& name : skip) {
    const bool known = name == "all" || std::any_of(kPasses.begin(), kPasses.end(),
                                                    [&](const Pass& p) { return p.name == name; });
    require(known, "passes", "expected the name of a pass to skip, got '", name, "'");
  }
  const auto skipped = [&](std::string_view name) {
    return std::any_of(skip.begin(), skip.end(),
                       [&](const std::string& s) { return s == name || s == "all"; });
  };
  Graph current = checked(pass_lower(graph, can));
  for (const Pass& pass : std::span(kPasses).subspan(1)) {
    const bool runs = pass.run == pass_lower ? has_to_lower(current, can) : !skipped(pass.name);
    if (runs) current = checked(pass.run(current, can));
  }
  return current;
}

}  // namespace plimsoll
