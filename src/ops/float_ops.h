// What the ops on floating-point tensors in this folder share: checks, and computing of float16 and bfloat16
// in float32.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device/cpu/widened.h"
#include "device/kernel.h"
#include "graph/grad.h"
#include "graph/op.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"

namespace plimsoll {

// The type sums and statistics of `dtype` are kept in.
inline DType wide_type(DType dtype) { return is_half(dtype) ? DType::f32 : dtype; }
inline Tensor wide(const Tensor& x) { return is_half(x.dtype()) ? cast(x, DType::f32) : x; }
inline Tensor narrow(const Tensor& x, DType dtype) { return x.dtype() == dtype ? x : cast(x, dtype); }

inline void require_float(const OpCall& c, size_t i, std::string_view what) {
  require(is_float(c.in[i].dtype), c.op.name, "expected ", what, " of a floating-point dtype, got ", c.in[i]);
}
inline void require_type(const OpCall& c, size_t i, std::string_view what, DType dtype, const Shape& shape) {
  const TensorType expected{dtype, shape};
  require(c.in[i] == expected, c.op.name, "expected ", what, " of type ", expected, ", got ", c.in[i]);
}
inline void require_integer(const OpCall& c, size_t i, std::string_view what) {
  require(is_integer(c.in[i].dtype), c.op.name, "expected ", what, " of an integer dtype, got ", c.in[i]);
}

// Every input and output touched once, `flops` per element of input 0.
inline Cost streaming_cost(const OpCall& c, std::span<const TensorType> out, double flops) {
  Cost cost;
  cost.flops = flops * static_cast<double>(c.in[0].shape.elements());
  for (const TensorType& t : c.in) cost.bytes += static_cast<double>(byte_size(t.dtype, t.shape));
  for (const TensorType& t : out) cost.bytes += static_cast<double>(byte_size(t.dtype, t.shape));
  return cost;
}

}  // namespace plimsoll
