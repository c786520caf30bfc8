// The transforms of Winograd's F(2x2, 3x3): a tile of 2x2 results of a 3x3 convolution takes 16 products per
// channel and filter instead of 36. With d the 4x4 input points of the tile, g the window and m the sums over
// channels of (B' d B) * (G g G'), the results are A' m A. The transposed algorithm makes the window's
// gradient from those of the results: G' (sum over tiles of (B' d B) * (A dy A')) G.
// Each works on vectors of channels or filters. "16 rows" lie `step` elements apart.
#pragma once

#include <cstdint>

namespace plimsoll {

// What becomes of a result before it is stored; null pointers are left out.
struct WinogradFinish {
  const float* bias = nullptr;
  const float* residual[4] = {};
  bool relu = false;
};

struct WinogradTransforms {
  // n elements of 16 input points -> 16 rows.
  void (*input)(const float* const* points, int64_t n, float* to, int64_t step);
  // n elements of 4 points of dy -> 16 rows.
  void (*gradient)(const float* const* points, int64_t n, float* to, int64_t step);
  // 16 rows of n sums -> 4 points; those that are null are left out.
  void (*result)(const float* from, int64_t step, int64_t n, const WinogradFinish& finish,
                 float* const* points);
  // 9 blocks of `rows` x `width`, from_step apart, times scale[width] (null: 1) -> 16 of them.
  void (*kernel)(const float* from, int64_t from_step, int64_t rows, int64_t width, const float* scale,
                 float* to, int64_t step);
  // 16 rows of n, summed over slices in order, -> 9 rows, to_step apart.
  void (*kernel_gradient)(const float* from, int64_t step, int64_t slices, int64_t n, float* to,
                          int64_t to_step);
};

// All lengths must divide by the vectors' length, which gemm's panels do.
const WinogradTransforms& winograd_transforms();

}  // namespace plimsoll
