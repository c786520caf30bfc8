// A contraction of two dense tensors (XLA's dot_general) as a Gemm: axes that lie next to each other in
// memory are read as one, transposes become strides, and an operand is copied only if its axes cannot
// be read so.
#pragma once

#include <cstdint>
#include <span>

#include "device/cpu/activation.h"
#include "device/kernel.h"

namespace plimsoll {

// Axes of a dot_general, checked and not negative.
struct ContractionAxes {
  std::span<const int64_t> a_contract, b_contract, a_batch, b_batch;
};

// What comes after the sums; see GemmProblem.
struct ContractionEpilogue {
  bool bias = false;  // a third input
  bool relu = false;
  void (*post)(const void* const* in, void* out, size_t n, const double* params) = nullptr;
  double post_params[4] = {};
};

// q.in: a, b and the bias, if there is one; q.out: the result. For floats;
// halves are summed in f32 and `post` gets f32.
Kernel prepare_contraction(const KernelQuery& q, const ContractionAxes& axes,
                           const ContractionEpilogue& epilogue);

// On oneDNN: large products of f32 or halves without batch axes. prepare throws Error{unsupported} where
// oneDNN has no kernel of its own for the processor. Requires: contraction_fits_onednn().
bool contraction_fits_onednn(const KernelQuery& q, const ContractionAxes& axes);
Kernel prepare_contraction_onednn(const KernelQuery& q, const ContractionAxes& axes, bool bias,
                                  Activation activation);

// Plain loops, every dtype, sums in double (or in the integer type itself). No epilogue.
Kernel prepare_contraction_reference(const KernelQuery& q, const ContractionAxes& axes);

}  // namespace plimsoll
