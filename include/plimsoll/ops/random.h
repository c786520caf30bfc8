// Counter-based random numbers (Philox 4x32-10): element i of a tensor depends on the key and i alone, so the
// result is the same on every device, for every number of threads and every order of evaluation.
#pragma once

#include "plimsoll/tensor.h"

#pragma GCC visibility push(default)
namespace plimsoll {

// key: uint32 of shape (2,). Every element gets 32 random bits.
Tensor random_bits(const Tensor& key, const Shape& shape);
Tensor random_uniform(const Tensor& key, const Shape& shape, DType dtype, double low = 0, double high = 1);
Tensor random_normal(const Tensor& key, const Shape& shape, DType dtype, double mean = 0, double stddev = 1);
// A key for the `index`-th use of `key` (uint32 or int scalar), for layers and steps.
Tensor fold_in(const Tensor& key, const Tensor& index);
// Zeroes elements with probability `rate`, scales the rest by 1 / (1 - rate).
Tensor dropout(const Tensor& x, const Tensor& key, double rate);

}  // namespace plimsoll
#pragma GCC visibility pop
