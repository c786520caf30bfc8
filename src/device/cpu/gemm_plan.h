// What a Gemm computes and how it goes about it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plimsoll/dtype.h"

namespace plimsoll {

// Strides count elements. A(i, p) lies at a[i * a_row + p * a_col], B(p, j) at b[p * b_row + j *
// b_col], C(i, j) at c[i * c_row + j]; item (y, z) of the batch, 0 <= y < outer, 0 <= z < batch, lies y
// * x_outer + z * x_batch further (stride 0: shared). Sizes may be 0.
struct GemmProblem {
  DType dtype = DType::f32;
  int64_t outer = 1, batch = 1, m = 0, n = 0, k = 0;
  int64_t a_row = 0, a_col = 1, a_batch = 0, a_outer = 0;
  int64_t b_row = 0, b_col = 1, b_batch = 0, b_outer = 0;
  int64_t c_row = 0, c_batch = 0, c_outer = 0;
  bool accumulate = false;  // C += instead of C =
  bool bias = false;        // n elements, added to every row
  bool relu = false;
  // (optional) A function of finished elements of C, in place: n of them at out, which is in[0].
  void (*post)(const void* const* in, void* out, size_t n, const double* params) = nullptr;
  double post_params[4] = {};
  int threads = 1;
};

struct GemmPlan {
  enum class Path : uint8_t {
    dot,     // C has one column, rows of A are contiguous: a scalar product per row
    direct,  // B is read as it lies
    packed,  // blocks of B, and mostly of A, are copied into panels first
  };
  GemmProblem problem;
  Path path = Path::direct;
  bool swapped = false;      // C is one row or column and computed as its transpose: A and B changed places
  bool bias_scalar = false;  // one element for all of C
  bool pack_a = false;
  bool shared = false;                     // packed: all threads work on blocks of B that they pack together,
  bool share_a = false;                    // and on all of A so packed
  int64_t kc = 0, mc = 0, nc = 0;          // block sizes
  int64_t depth = 0;                       // shared: k's that are packed at once, whole blocks
  int64_t row_chunks = 1, col_chunks = 1;  // how one item is split over threads
  int64_t a_elements = 0, b_elements = 0;  // of what is packed, by each thread or shared
  const void* kernels = nullptr;           // GemmKernels<T>
  int64_t scratch = 0;                     // bytes

  int64_t items() const { return problem.outer * problem.batch; }
};

GemmPlan plan_gemm(const GemmProblem& problem);

}  // namespace plimsoll
