// einsum of two tensors: "abc,cd->abd". Letters that are in both and not in the result are summed over.
#pragma once

#include <string_view>

#include "plimsoll/tensor.h"

namespace plimsoll {

// Throws Error{invalid_argument} naming `place` if the equation does not fit the tensors; {unsupported} for a
// letter twice in one operand, or one summed over that only one has.
Tensor einsum(std::string_view equation, const Tensor& a, const Tensor& b, std::string_view place);

}  // namespace plimsoll
