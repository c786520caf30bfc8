// Complex tensors as pairs of floats: what the files of other ops call when they meet one.
#pragma once

#include <string_view>

#include "plimsoll/attrs.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

// The same bytes as floats with a last axis of 2, and back.
Tensor pairs(const Tensor& z);
Tensor from_pairs(const Tensor& p);

// Functions by the name of their op. Throw Error{unsupported} for those that complex numbers do not have.
Tensor complex_unary(std::string_view name, const Tensor& z);
Tensor complex_binary(std::string_view name, const Tensor& a, const Tensor& b);
Tensor complex_compare(std::string_view name, const Tensor& a, const Tensor& b);
Tensor complex_cast(const Tensor& x, DType dtype);
Tensor complex_sum(const Tensor& z, const Ints& axes, bool keepdims);

}  // namespace plimsoll
