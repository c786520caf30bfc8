// Sums that every element of a tensor is part of, each times a weight of its own: what golden files hold of
// large results. tests/golden/make_op_goldens.py (weighed_sums) is the other half.
#pragma once

#include <cstdint>
#include <vector>

#include "plimsoll/tensor.h"

namespace plimsoll::testing {

// Sum k is over the elements (parts, if complex) from k * size / count to (k + 1) * size / count. Requires:
// count is at most the number of elements.
std::vector<double> weighed_sums(const Tensor& t, int64_t count);
// The same for integers, exactly: in 64 bits that wrap around.
std::vector<uint64_t> weighed_integer_sums(const Tensor& t, int64_t count);

}  // namespace plimsoll::testing
