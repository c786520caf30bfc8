// What the test of element_source() prints and runs: ops, fused bodies, and the values they meet.
#pragma once

#include <string>
#include <vector>

#include "device/cpu/tile.h"
#include "graph/op.h"

namespace plimsoll::testing {

struct ElementCase {
  std::string name;
  TileProgram program;
  std::vector<Tensor> inputs;
  std::vector<TensorType> outputs;
  double tolerance = 0;  // of f32; none where all operations are exact
};

// Ops with tiles.
std::vector<const OpDef*> elementwise_ops();
// The cases of the sweep.
std::vector<ElementCase> cases_of(const OpDef& op);
// Each dtype on values at the edges of what it can hold, in all pairs if there are two operands.
std::vector<ElementCase> edge_cases(const OpDef& op);
// Every reduction over every dtype it has.
std::vector<ElementCase> reduction_cases();
// The fused nodes that passes make of a random graph.
std::vector<ElementCase> fused_cases(uint64_t seed);
// Random ops of all dtypes, one behind the other, whose results have the same bits on every device.
ElementCase exact_chain(uint64_t seed);

// Whether results have the same bits on every device, and if so, whether zeros may differ in their signs.
bool is_exact(const TileProgram& program);
bool leaves_zeros_open(const TileProgram& program);

}  // namespace plimsoll::testing
