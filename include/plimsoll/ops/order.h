// Ops that order elements. NaN is larger than any number, and of equals the first comes first.
#pragma once

#include <span>
#include <vector>

#include "plimsoll/tensor.h"

#pragma GCC visibility push(default)
namespace plimsoll {

Tensor sort(const Tensor& x, int axis = -1);     // ascending
Tensor argsort(const Tensor& x, int axis = -1);  // int32
// All operands, of one shape, in the order of the first.
std::vector<Tensor> sort(std::span<const Tensor> operands, int axis);
// {values, places (int32)} of the k largest along the last axis, largest first.
std::vector<Tensor> top_k(const Tensor& x, int64_t k);

}  // namespace plimsoll
#pragma GCC visibility pop
