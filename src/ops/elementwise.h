// What the files of element-wise ops share.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "graph/grad.h"
#include "graph/op.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"

namespace plimsoll {

// Throws unless input i has one of these dtypes.
inline void require_dtype(const OpCall& call, size_t i, std::span<const DType> allowed) {
  const DType t = call.in[i].dtype;
  if (std::find(allowed.begin(), allowed.end(), t) != allowed.end()) return;
  std::string names;
  for (const DType a : allowed) names += concat(names.empty() ? "" : ", ", name_of(a));
  fail(ErrorKind::invalid_argument, call.op.name, "expected a tensor of ", names, ", got ", call.in[i]);
}

// Keras: what has no meaning for integers is computed in float32.
inline Tensor to_float(const Tensor& x) {
  return is_float(x.dtype()) || is_complex(x.dtype()) ? x : cast(x, DType::f32);
}

// Gradients of a binary op have the shape of its result; this gives input i its own.
inline Tensor fit(const GradContext& g, int i, const Tensor& gradient) {
  return sum_to(gradient, g.in(i).shape());
}

// Shapes the sweep should see everywhere: none, one, primes, many axes, empty.
inline const std::vector<Shape>& odd_shapes() {
  static const std::vector<Shape> shapes = {
      Shape{}, Shape{1}, Shape{7}, Shape{0, 3}, Shape{5, 1, 17}, Shape{2, 3, 1, 5, 4}, Shape{1031}};
  return shapes;
}

}  // namespace plimsoll
