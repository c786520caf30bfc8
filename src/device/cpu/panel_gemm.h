// Packing for the small products of panel_gemm-inl.h, from outside Highway's code.
#pragma once

#include <cstdint>

#include "plimsoll/dtype.h"

namespace plimsoll {

// Elements of B (k x n) packed by the present Highway target, and the packing; b(p, j) lies at b[p * row + j
// * col]. Halves become f32.
int64_t packed_elements(DType dtype, int64_t k, int64_t n);
void pack_panels(DType dtype, const void* b, int64_t row, int64_t col, int64_t k, int64_t n, void* packed);

}  // namespace plimsoll
