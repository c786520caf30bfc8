// Fourier transforms along the last axis, with NumPy's scale: none forwards, 1/n backwards. Complex numbers
// are pairs of real tensors, as in keras.ops; float32 and float64 (halves are computed in float32).
#pragma once

#include <vector>

#include "plimsoll/tensor.h"

#pragma GCC visibility push(default)
namespace plimsoll {

std::vector<Tensor> fft(const Tensor& real, const Tensor& imag);
std::vector<Tensor> ifft(const Tensor& real, const Tensor& imag);
// Along the last two axes.
std::vector<Tensor> fft2(const Tensor& real, const Tensor& imag);
std::vector<Tensor> ifft2(const Tensor& real, const Tensor& imag);
// The first n/2 + 1 values, of n real ones.
std::vector<Tensor> rfft(const Tensor& x);
// `length` real values from length/2 + 1 complex ones, the rest being their mirror image.
Tensor irfft(const Tensor& real, const Tensor& imag, int64_t length);

}  // namespace plimsoll
#pragma GCC visibility pop
