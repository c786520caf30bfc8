// Rewrites of a graph: each is one function Graph -> Graph in its own file, keeps the meaning, and can be
// left out by name.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/graph.h"

namespace plimsoll {

struct Pass {
  std::string_view name;
  Graph (*run)(const Graph& graph);
};

// In the order they run.
std::span<const Pass> all_passes();
// Runs all but those named in `skip`; "all" skips every one except those a graph cannot run without. In debug
// builds the graph is verified after each. Throws Error{invalid_argument} if `skip` names no pass.
Graph run_passes(const Graph& graph, std::span<const std::string> skip);

// Nodes of which `must` says so become their parts (OpDef::decompose), and the parts theirs; those without
// parts stay.
Graph lower_where(const Graph& graph, const std::function<bool(const Graph&, const Node&)>& must);

Graph pass_lower(const Graph& graph);     // ops without a kernel become their parts (always runs)
Graph pass_trim(const Graph& graph);      // results nobody reads are not made
Graph pass_fold(const Graph& graph);      // what depends on constants alone is computed now
Graph pass_simplify(const Graph& graph);  // x * 1, a reshape of a reshape, ...
Graph pass_share(const Graph& graph);     // equal nodes become one
Graph pass_layout(const Graph& graph);    // transposes move through element-wise ops and meet
Graph pass_masks(const Graph& graph);     // the backward pass of a ReLU moves through that of a max pooling
Graph pass_norm(const Graph& graph);      // a residual and a ReLU behind a batch normalisation join it
Graph pass_match(const Graph& graph);     // chains that a library kernel does in one go
Graph pass_recast(const Graph& graph);    // halves of inputs and variables are made where they are read
Graph pass_fuse(const Graph& graph);  // element-wise chains and the reductions behind them become one node

}  // namespace plimsoll
