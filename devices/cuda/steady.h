// What a program makes of its weights alone, when it only reads them: it is made in the first run, kept, and
// made again when the engine says that a weight has changed.
#pragma once

#include <vector>

#include "node.h"

namespace plimsoll::cuda {

struct Steady {
  std::vector<bool> values;      // by value: depends on variables and constants alone
  std::vector<bool> nodes;       // by node: all its inputs do, and it has some
  std::vector<int64_t> offsets;  // by value: where it is kept, for outputs of such nodes; -1: nowhere
  int64_t bytes = 0;

  // Nothing is, if runs write variables or if the engine does not say whether they do.
  explicit Steady(const plimsoll_graph& graph);
  int64_t keep(int64_t more);  // an offset for so many bytes

 private:
  bool gives(const plimsoll_graph& graph) const;
};

}  // namespace plimsoll::cuda
