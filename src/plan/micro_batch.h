// Micro-batches: a graph that runs over ranges of the rows of its batch, one after the other, so that what
// one range needs is gone before the next begins. Results are those of the whole batch: rows are put
// together, random numbers are those the row has in the whole batch, and sums over the batch are added up
// range by range, which rounds in another order. What looks across rows still runs once, on all of them.
#pragma once

#include <cstdint>
#include <optional>

#include "plimsoll/graph.h"

namespace plimsoll {

// The graph with nodes that stand between rows replaced by parts that do not, where they have such (a batch
// normalisation: sums, and what is done with them row by row). Sub-graphs are left alone.
Graph take_apart(const Graph& graph);

// The graph over `parts` ranges of nearly equal length. Nothing if there is no batch, it has fewer rows than
// that, or no node runs on ranges of it. Requires: passes have run (they would fuse the ranges again).
std::optional<Graph> cut_batch(const Graph& graph, int64_t parts);

}  // namespace plimsoll
