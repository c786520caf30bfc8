// Indices that come with the data, such as the tokens of an Embedding or the labels of a sparse cross-entropy: one
// outside of its axis is an Error before the step, which would take the nearest row, or make the loss NaN. Only
// what reaches the op as it came is looked at, whole or cut: what is computed may be clipped before it is used.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plimsoll/graph.h"

namespace plimsoll {

struct IndexRange {
  size_t input = 0;  // of the graph
  std::string input_name;
  std::vector<std::pair<const OpDef*, Attrs>> cuts;  // what is done to it first; none where all of it is read
  int64_t size = 0;
  bool labels = false;
  std::string layer;
};

std::vector<IndexRange> index_ranges(const Graph& graph);
// Throws Error{invalid_argument} naming the index, its place, and the layer. `inputs`: as the graph has them.
void check_indices(const std::vector<IndexRange>& ranges, std::span<const Tensor> inputs);

}  // namespace plimsoll
