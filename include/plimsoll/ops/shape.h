// Ops that move elements and compute nothing.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "plimsoll/attrs.h"
#include "plimsoll/tensor.h"

#pragma GCC visibility push(default)
namespace plimsoll {

// One size may be -1: it is what is left.
Tensor reshape(const Tensor& x, std::span<const int64_t> sizes);
Tensor reshape(const Tensor& x, const Shape& shape);
Tensor expand_dims(const Tensor& x, int axis);
Tensor squeeze(const Tensor& x, int axis);
Tensor broadcast_to(const Tensor& x, const Shape& shape);
// Sums over the axes along which `shape` was broadcast to x's shape: the gradient of broadcasting.
Tensor sum_to(const Tensor& x, const Shape& shape);
Tensor transpose(const Tensor& x, const Ints& permutation);
Tensor reverse(const Tensor& x, const Ints& axes);
// x[start:limit:stride] on each axis; 0 <= start <= limit <= size, stride >= 1.
Tensor slice(const Tensor& x, const Ints& starts, const Ints& limits, const Ints& strides = {});
// Per axis: elements before, after and between; negative before/after cut. The filling is `value`.
Tensor pad(const Tensor& x, const Ints& low, const Ints& high, const Ints& interior = {}, double value = 0);
Tensor concatenate(std::span<const Tensor> parts, int axis);
// Starts are a vector of int32 or int64, clamped so that the slice lies inside.
Tensor dynamic_slice(const Tensor& x, const Tensor& starts, const Ints& sizes);
Tensor dynamic_update_slice(const Tensor& x, const Tensor& update, const Tensor& starts);
// 0, 1, 2, ... along one axis.
Tensor iota(DType dtype, const Shape& shape, int axis);

// x.shape[:axis] + indices.shape + x.shape[axis+1:]. An index outside is clamped after wrapping negative
// ones.
Tensor take(const Tensor& x, const Tensor& indices, int axis);
// indices (..., k) name the first k axes of x; the result is indices.shape[:-1] + x.shape[k:].
Tensor gather_nd(const Tensor& x, const Tensor& indices);
// x with updates put in at indices (as gather_nd reads them), in order of the indices. mode: "set", "add",
// "mul", "min", "max". Indices outside are dropped.
Tensor scatter_nd(const Tensor& x, const Tensor& indices, const Tensor& updates, std::string_view mode);
Tensor take_along_axis(const Tensor& x, const Tensor& indices, int axis);
// x with updates put in where take_along_axis would read them; mode as in scatter_nd.
Tensor put_along_axis(const Tensor& x, const Tensor& indices, const Tensor& updates, int axis,
                      std::string_view mode = "set");
Tensor one_hot(const Tensor& indices, int64_t classes, DType dtype);

}  // namespace plimsoll
#pragma GCC visibility pop
