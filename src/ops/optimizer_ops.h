// What the optimizer updates share: checks of their operands, and how they read their scalars.
#pragma once

#include "device/cpu/typed.h"
#include "ops/float_ops.h"

namespace plimsoll {

inline void require_scalar(const OpCall& c, size_t i, std::string_view what, bool integer) {
  const bool fits = integer ? is_integer(c.in[i].dtype) : is_float(c.in[i].dtype);
  require(fits && c.in[i].shape.rank() == 0, c.op.name, "expected ", what, " to be ",
          integer ? "an integer" : "a float", " scalar, got ", c.in[i]);
}
inline void require_like_weight(const OpCall& c, size_t i, std::string_view what) {
  require_type(c, i, what, c.in[0].dtype, c.in[0].shape);
}

// A gradient has its weight's type, or is a half beside a weight of float32.
inline void require_gradient(const OpCall& c, size_t i, const Shape& shape) {
  const bool half = c.in[0].dtype == DType::f32 && is_half(c.in[i].dtype);
  require_type(c, i, "a gradient", half ? c.in[i].dtype : c.in[0].dtype, shape);
}

// The value of a float scalar.
inline double read_real(DType dtype, const void* p) {
  return with_float(dtype, "optimizer",
                    [&]<class S>(S) -> double { return load(*static_cast<const S*>(p)); });
}

inline Cost update_cost(const OpCall& c, std::span<const TensorType> out) {
  return streaming_cost(c, out, 12);
}

// Operands of the test cases.
inline InputCase rate_case() { return {Shape{}, 0.01, 0.1, std::nullopt}; }
inline InputCase positive_case(const Shape& shape) { return {shape, 0, 1, std::nullopt}; }

}  // namespace plimsoll
