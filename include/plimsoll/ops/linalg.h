// Contractions, and matrices: the last two axes, with any number before them.
#pragma once

#include <string_view>
#include <vector>

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

// These compute in float32 or float64, halves in float32. Where a matrix has no such factors, its results are
// NaN.

// The lower L with L L^T = (a + a^T) / 2.
Tensor cholesky(const Tensor& a);
// X with A X = b, A the lower or upper triangle of `a`, or its transpose.
Tensor triangular_solve(const Tensor& a, const Tensor& b, bool lower, bool transposed = false);
// {L and U in one matrix, pivots, permutation}: row i was exchanged with row pivots[i], one after the other;
// row i of L U is row permutation[i] of a. Both int32.
std::vector<Tensor> lu(const Tensor& a);
Tensor solve(const Tensor& a, const Tensor& b);  // a X = b, b with as many axes as a
Tensor inv(const Tensor& a);
Tensor det(const Tensor& a);
std::vector<Tensor> slogdet(const Tensor& a);  // {sign, log |det|}
// {Q, R}; reduced, or with a square Q, which has no gradient if a has more rows than columns.
std::vector<Tensor> qr(const Tensor& a, bool complete = false);
// {values, ascending; vectors, as columns} of (a + a^T) / 2. Of each vector the largest element is positive.
std::vector<Tensor> eigh(const Tensor& a);
// {U, values, V^T}, values descending; the largest element of each column of U is positive. `full`: square U
// and V, without a gradient.
std::vector<Tensor> svd(const Tensor& a, bool full = false);

}  // namespace plimsoll
#pragma GCC visibility pop
