// Contractions.
#pragma once

#include <string_view>

#include "plimsoll/attrs.h"
#include "plimsoll/tensor.h"

#pragma GCC visibility push(default)
namespace plimsoll {

// XLA's dot_general: result axes are batch, then the free axes of a, then the free axes of b.
Tensor dot_general(const Tensor& a, const Tensor& b, const Ints& a_contract, const Ints& b_contract,
                   const Ints& a_batch = {}, const Ints& b_batch = {});
// NumPy's matmul, with broadcasting of the leading axes.
Tensor matmul(const Tensor& a, const Tensor& b);
// act(dot_general(a, b) + bias); bias has one axis, the last of the result; `activation` as in dense().
// activation: "linear", "relu", "sigmoid", "tanh", "gelu", "gelu_tanh", "silu".
Tensor dense(const Tensor& x, const Tensor& kernel, const Tensor& bias,
             std::string_view activation = "linear");

}  // namespace plimsoll
#pragma GCC visibility pop
