// Rows of halves as f32 and back, and panels for HalfGemm: f32 from matrices of halves (or of f32).
#pragma once

#include <cstdint>

#include "plimsoll/dtype.h"

namespace plimsoll {

// Rows [0, count) of x (element (i, p) at x[i * row + p * col]) in panels of `width` rows, `panel` elements
// apart, as GemmKernels<float>::pack writes them, with zeros in the rows that fill up the last panel.
struct PanelSource {
  DType dtype;  // f32, f16 or bf16
  const void* x;
  int64_t row, col, count, k, width, panel;
};
void pack_wide(const PanelSource& from, float* out);

// n elements of f32 from f32 or halves, and back, rounded to nearest even.
void widen_row(DType from, const void* x, int64_t n, float* out);
void narrow_row(const float* x, int64_t n, DType to, void* out);

}  // namespace plimsoll
