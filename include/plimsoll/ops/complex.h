// Complex tensors. They move like all others; their arithmetic (+ - * / power, exp, log, sqrt, the circular
// and hyperbolic functions, absolute, equal, where, cast, sum, matmul ...) is that of their parts. Gradients
// have the convention of TensorFlow and PyTorch: that of a real number by z is d/d real(z) + i d/d imag(z).
#pragma once

#include "plimsoll/tensor.h"

#pragma GCC visibility push(default)
namespace plimsoll {

// complex64 of float32 and halves, complex128 of float64.
Tensor complex(const Tensor& real, const Tensor& imag);
Tensor real(const Tensor& z);  // of a real tensor: itself
Tensor imag(const Tensor& z);  // of a real tensor: zeros
Tensor conj(const Tensor& z);
Tensor angle(const Tensor& z);

}  // namespace plimsoll
#pragma GCC visibility pop
