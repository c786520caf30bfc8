// Softmax, log-softmax and the cross-entropies built on them, of any float type; lse and what is summed is
// f32 for halves. Rows are independent: each is read from memory once (later passes find it in cache). Every
// output is overwritten and may be the same bytes as an input of its shape. Safe to call from any thread.
#pragma once

#include <cstdint>

#include "plimsoll/dtype.h"
#include "plimsoll/shape.h"

namespace plimsoll {

// A dense tensor seen as (outer, n, inner), with the axis of interest in the middle.
struct AxisView {
  int64_t outer = 1;
  int64_t n = 1;
  int64_t inner = 1;
};
AxisView axis_view(const Shape& shape, int axis);

// y = softmax(x), or log_softmax(x) if `log`.
void softmax_forward(DType dtype, const AxisView& view, bool log, const void* x, void* y, int threads);
// dx from y and dy: y (dy - sum(y dy)), or dy - exp(y) sum(dy) if `log`.
void softmax_backward(DType dtype, const AxisView& view, bool log, const void* y, const void* dy, void* dx,
                      int threads);

struct RowsView {
  int64_t rows = 0;
  int64_t classes = 0;
};
// loss[i] = lse[i] - x[i, label[i]], lse = log(sum(exp(x))). A label outside [0, classes) gives a NaN loss
// and, below, a gradient of zero for its row, as in TensorFlow.
void sparse_cross_entropy_forward(DType dtype, const RowsView& view, const void* x, DType label_dtype,
                                  const void* labels, void* loss, void* lse, int threads);
// dx = (exp(x - lse) - onehot(label)) * dloss.
void sparse_cross_entropy_backward(DType dtype, const RowsView& view, const void* x, DType label_dtype,
                                   const void* labels, const void* lse, const void* dloss, void* dx,
                                   int threads);

// loss[i] = sum_j t[i, j] (lse[i] - x[i, j]).
void cross_entropy_forward(DType dtype, const RowsView& view, const void* x, const void* targets, void* loss,
                           void* lse, int threads);
// dx = (exp(x - lse) sum(t) - t) * dloss.
void cross_entropy_backward(DType dtype, const RowsView& view, const void* x, const void* targets,
                            const void* lse, const void* dloss, void* dx, int threads);

}  // namespace plimsoll
