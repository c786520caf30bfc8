// The reverse walk over part of a graph.
#pragma once

#include <span>
#include <vector>

#include "plimsoll/graph.h"

namespace plimsoll {

// Sum over i of dys[i] times the derivative of ys[i] by each x, through the nodes from `first` on. Undefined
// dys count as zero; an x that nothing reaches gets an undefined Tensor. Requires: all symbolic and of one
// graph.
std::vector<Tensor> vjp(std::span<const Tensor> ys, std::span<const Tensor> dys, std::span<const Tensor> xs,
                        NodeId first);

}  // namespace plimsoll
