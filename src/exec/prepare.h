// Choosing the kernel of a node.
#pragma once

#include "device/kernel.h"
#include "graph/op.h"

namespace plimsoll {

// The first of the op's kernels that fits and can be made; with `reference` the last. An element-wise op gets
// the tile engine. Throws Error{unsupported} naming op and types if there is none.
Kernel prepare_kernel(const OpDef& op, const KernelQuery& query, bool reference = false);

// "float32(2, 3), int32()", for errors.
std::string types_text(std::span<const TensorType> types);

// How many of `most` threads work of this cost is worth: one if waking a second would take as long as the
// work, more as there is work for each.
int threads_for(const Cost& cost, int most);

}  // namespace plimsoll
