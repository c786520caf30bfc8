// What the passes about statistics and biases share.
#pragma once

#include <vector>

#include "graph/op.h"

namespace plimsoll {

// Whether a reduction of a tensor of this rank leaves nothing but the last axis.
inline bool over_all_but_last(const Node& reduce, int rank) {
  if (rank < 2) return false;
  std::vector<bool> reduced(static_cast<size_t>(rank));
  for (const int64_t axis : reduce.attrs.ints("axes"))
    reduced[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = true;
  for (int i = 0; i < rank; ++i) {
    if (reduced[static_cast<size_t>(i)] != (i + 1 < rank)) return false;
  }
  return true;
}

}  // namespace plimsoll
