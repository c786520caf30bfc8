// Ops that make many elements into one. An empty list of axes means all of them. Sums of f16 and bf16 are
// kept in f32. The order of every sum is fixed by the shape alone: results do not depend on the threads.
#pragma once

#include "plimsoll/attrs.h"
#include "plimsoll/tensor.h"

#pragma GCC visibility push(default)
namespace plimsoll {

Tensor sum(const Tensor& x, const Ints& axes = {}, bool keepdims = false);
Tensor prod(const Tensor& x, const Ints& axes = {}, bool keepdims = false);
Tensor max(const Tensor& x, const Ints& axes = {}, bool keepdims = false);
Tensor min(const Tensor& x, const Ints& axes = {}, bool keepdims = false);
Tensor all(const Tensor& x, const Ints& axes = {}, bool keepdims = false);  // of bools
Tensor any(const Tensor& x, const Ints& axes = {}, bool keepdims = false);
Tensor mean(const Tensor& x, const Ints& axes = {}, bool keepdims = false);
Tensor variance(const Tensor& x, const Ints& axes = {}, bool keepdims = false);
Tensor argmax(const Tensor& x, int axis, bool keepdims = false);  // int32; the first of equals
Tensor argmin(const Tensor& x, int axis, bool keepdims = false);
Tensor cumsum(const Tensor& x, int axis, bool reverse = false);
Tensor cumprod(const Tensor& x, int axis, bool reverse = false);
Tensor cummax(const Tensor& x, int axis, bool reverse = false);

// Windows over any axes, XLA style: sizes, strides and paddings have one entry per axis of x.
Tensor reduce_window_sum(const Tensor& x, const Ints& window, const Ints& strides, const Ints& low,
                         const Ints& high);
Tensor reduce_window_max(const Tensor& x, const Ints& window, const Ints& strides, const Ints& low,
                         const Ints& high);
// The gradient of reduce_window_max: adds each element of dy where its window has its (first) maximum.
Tensor select_and_scatter_add(const Tensor& x, const Tensor& dy, const Ints& window, const Ints& strides,
                              const Ints& low, const Ints& high);

}  // namespace plimsoll
#pragma GCC visibility pop
