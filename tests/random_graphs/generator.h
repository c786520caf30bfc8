// Random graphs over small shapes. A recipe is a list of seeds, one per step; a step picks its op and its
// operands from what is there, so that any step can be left out and the rest is still a graph. That is how a
// failure is shrunk.
#pragma once

#include <cstdint>
#include <vector>

#include "plimsoll/graph.h"

namespace plimsoll::testing {

struct Recipe {
  uint64_t seed = 0;  // of the inputs' shapes
  DType dtype = DType::f32;
  std::vector<uint64_t> steps;
};

Recipe random_recipe(uint64_t seed);

// The graph with its inputs' values. It has a variable with an update, outputs for every value nobody uses,
// and the gradients of a weighed sum of them.
struct RandomGraph {
  Graph graph;
  std::vector<Tensor> inputs;
  Tensor variable;  // fresh storage
};
RandomGraph build(const Recipe& recipe);

}  // namespace plimsoll::testing
