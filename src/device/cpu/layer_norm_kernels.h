// Layer normalisation over rows of `n` elements. x, y and their gradients are of any float type; gamma, beta,
// the statistics and the gradients of the first two are f64 for f64 and f32 otherwise. All outputs are
// overwritten; y may be x, and dx may be x or dy. Safe to call from any thread.
#pragma once

#include <cstdint>

#include "plimsoll/dtype.h"

namespace plimsoll {

// y = (x - mean) * rstd * gamma + beta, rstd = 1 / sqrt(variance + epsilon), per row.
void layer_norm_forward(DType dtype, int64_t rows, int64_t n, double epsilon, const void* x,
                        const void* gamma, const void* beta, void* y, void* mean, void* rstd, int threads);

struct LayerNormGrad {
  const void* x;
  const void* gamma;
  const void* mean;
  const void* rstd;
  const void* dy;
  void* dx;
  void* dgamma;
  void* dbeta;
};
// Sums over rows go by groups of rows whose size depends on `rows` alone, so every thread count gives the
// same bits. `scratch` holds layer_norm_scratch() bytes.
int64_t layer_norm_scratch(DType dtype, int64_t rows, int64_t n);
void layer_norm_backward(DType dtype, int64_t rows, int64_t n, const LayerNormGrad& a, void* scratch,
                         int threads);

}  // namespace plimsoll
