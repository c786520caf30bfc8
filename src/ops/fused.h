// Element-wise ops, one by one and fused, as kernels of the tile engine.
#pragma once

#include "device/cpu/tile.h"
#include "graph/op.h"

namespace plimsoll {

// An op that has tiles (OpDef::tile) as a program of the tile engine, and as a kernel. Throw
// Error{unsupported} if it has none for these types.
TileProgram tile_program(const OpDef& op, const KernelQuery& q);
Kernel prepare_elementwise(const OpDef& op, const KernelQuery& q);

// Whether "fused" can run this body. Its nodes may be
// - ops with tiles, and constants;
// - broadcast_to, reshape and transpose of inputs and constants, and broadcast_to of what tiles made;
// - reduce_sum, _prod, _max, _min, _and, _or of values of the whole space, as outputs only.
// The space is the largest shape among the values; every other shape broadcasts to it. Outputs have as many
// elements as the space (a reshape of one, or broadcast_to of an input, too), or are reductions.
bool can_fuse(const Graph& body);

// The body as a program of the tile engine. Throws Error{unsupported} if it holds anything else.
TileProgram tile_program(const Graph& body);

}  // namespace plimsoll
