// The inner loops of Gemm for one Highway target. Private to gemm.cpp and gemm_kernels.cpp.
#pragma once

#include <cstdint>

namespace plimsoll {

// C[m, n] (+)= A[m, k] . B[k, n], then bias and relu. Rows of A in panels of `mr` if packed (a_row 1,
// a_col mr), else as they lie; columns of B in panels of `nr`, b_panel elements apart, rows of a panel
// b_row apart and contiguous.
template <class T>
struct GemmBlock {
  const T* a;
  int64_t a_row, a_col;
  int64_t a_panel = 0;  // elements from one packed panel of A to the next; 0: not packed
  const T* b;
  int64_t b_row, b_panel = 0;  // 0: as it lies
  T* c;
  int64_t c_row;
  int64_t m, n, k;
  const T* bias = nullptr;   // null: none
  bool bias_scalar = false;  // one element for all columns
  bool add_c = false;
  bool relu = false;
};

// y[i] (+)= sum over p of a[i * a_row + p] * x[p], then bias (one per row, or one for all) and relu.
template <class T>
struct GemmDot {
  const T* a;
  int64_t a_row;
  const T* x;
  T* y;
  int64_t m, k;
  const T* bias;
  bool bias_scalar;
  bool add_c;
  bool relu;
};

template <class T>
struct GemmKernels {
  int64_t mr, nr;  // panel sizes
  int64_t wide;    // columns of a panel that is not packed, when there are few rows
  void (*block)(const GemmBlock<T>& call);
  void (*dot)(const GemmDot<T>& call);
  // Writes rows [0, count) of x (element (i, p) at x[i * row + p * col]) in panels of `width` rows,
  // `panel` elements apart: out[i / width * panel + p * width + i % width]. Rows that fill up the last
  // panel hold what they like; up to 4 elements past the end of a panel are written.
  void (*pack)(const T* x, int64_t row, int64_t col, int64_t count, int64_t k, int64_t width, int64_t panel,
               T* out);
};

const GemmKernels<float>& gemm_kernels_f32();
const GemmKernels<double>& gemm_kernels_f64();

}  // namespace plimsoll
