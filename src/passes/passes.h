// Rewrites of a graph: each is one function Graph -> Graph in its own file, keeps the meaning, and can be
// left out by name. Those that depend on what the graph will run on are told what that can do.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "passes/cpu_capabilities.h"
#include "plimsoll/graph.h"

namespace plimsoll {

struct Pass {
  std::string_view name;
  Graph (*run)(const Graph& graph, const Capabilities& can);
};

// In the order they run.
std::span<const Pass> all_passes();
// Runs all but those named in `skip`; "all" skips every one except those a graph cannot run without. In debug
// builds the graph is verified after each. Throws Error{invalid_argument} if `skip` names no pass.
Graph run_passes(const Graph& graph, std::span<const std::string> skip,
                 const Capabilities& can = cpu_capabilities());

// Ops that the device has no code for become their parts (OpDef::decompose), and the parts theirs; those
// without parts stay. Always runs, and again behind "match", whose library ops a device may not have.
Graph pass_lower(const Graph& graph, const Capabilities& can = cpu_capabilities());
bool has_to_lower(const Graph& graph, const Capabilities& can);
Graph pass_trim(const Graph& graph);        // results nobody reads are not made
Graph pass_fold(const Graph& graph);        // what depends on constants alone is computed now
Graph pass_simplify(const Graph& graph);    // x * 1, a reshape of a reshape, ...
Graph pass_share(const Graph& graph);       // equal nodes become one
Graph pass_layout(const Graph& graph);      // transposes move through element-wise ops and meet
Graph pass_statistics(const Graph& graph);  // a mean and variance that a batch normalisation makes anyway
Graph pass_relu(const Graph& graph);        // the mask of a ReLU reads its result
Graph pass_masks(const Graph& graph);       // the backward pass of a ReLU moves through that of a max pooling
Graph pass_norm(const Graph& graph);        // a residual and a ReLU behind a batch normalisation join it
Graph pass_bias(const Graph& graph);        // sums that the gradient of a convolution makes on its way
Graph pass_match(const Graph& graph);       // chains that a library kernel does in one go
// On a device that joins nodes: what stands between a convolution and a max pooling goes behind the pooling.
Graph pass_pool(const Graph& graph, const Capabilities& can = cpu_capabilities());
// Halves of inputs and variables are made where they are read; on a device that joins nodes, all at the
// beginning.
Graph pass_recast(const Graph& graph, const Capabilities& can = cpu_capabilities());
// Element-wise chains and the reductions behind them become one node.
Graph pass_fuse(const Graph& graph, const Capabilities& can = cpu_capabilities());

}  // namespace plimsoll
