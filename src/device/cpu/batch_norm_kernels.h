// Batch normalisation over rows of `channels` elements: statistics per channel, over all rows. float32 and
// float64, halves by widening. Sums go by chunks of rows whose size depends on the shape alone, merged in
// order in double, so every number of threads gives the same bits.
//   batch_norm       x, gamma, beta [, residual] -> y, mean, variance
//                    y = act((x - mean) / sqrt(variance + epsilon) * gamma + beta + residual); the variance
//                    is biased
//   batch_norm_grad  dy, x, gamma, mean, variance [, y [, beta]] -> dx, dgamma, dbeta [, dresidual]
// with the attributes epsilon, activation ("linear" or "relu") and residual (a flag). The gradient takes y
// where there is a relu, and gives dresidual where there is a relu and a residual (else it is dy). With the
// flag input_relu, x came out of a relu, and dx is the gradient below that: zero where x is not positive.
#pragma once

#include "device/kernel.h"

namespace plimsoll::highway {

Kernel prepare_batch_norm(const KernelQuery& q);
Kernel prepare_batch_norm_grad(const KernelQuery& q);

}  // namespace plimsoll::highway
