// How far two tensors are apart.
#pragma once

#include <string>

#include "plimsoll/tensor.h"

namespace plimsoll {
struct OpDef;
}

namespace plimsoll::testing {

// Roundings of one half-precision value are 2^-11 (float16) and 2^-8 (bfloat16) of it; kernels that go
// through several stored halves get four of them.
inline constexpr double kFloat16Tolerance = 2e-3;
inline constexpr double kBfloat16Tolerance = 1.6e-2;
// From a tolerance in float32 to the same number of units in the last place of float64, with a margin of
// five.
inline constexpr double kFloat64Share = 1e-8;

// The op's tolerance for results of `dtype`, relative to the largest element; integers are exact.
double tolerance_for(double f32_tolerance, DType dtype);

// Empty if types are equal and every element of `got` is within tolerance * (largest finite |want|, at least
// `least`) of `want`; NaN and infinities must meet their like. Else says where they part first and by how
// much at most.
std::string difference(const Tensor& got, const Tensor& want, double tolerance, double least = 0);
// Empty if the bytes are equal.
std::string bit_difference(const Tensor& got, const Tensor& want);

}  // namespace plimsoll::testing
