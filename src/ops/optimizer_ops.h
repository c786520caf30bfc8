// What the optimizer updates share: checks of their operands, and how they read their scalars.
#pragma once

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

// The value of a float scalar; halves have been widened before.
inline double read_real(DType dtype, const void* p) {
  return dtype == DType::f64 ? *static_cast<const double*>(p) : *static_cast<const float*>(p);
}

inline Cost update_cost(const OpCall& c, std::span<const TensorType> out) {
  return streaming_cost(c, out, 12);
}

// Operands of the test cases.
inline InputCase rate_case() { return {Shape{}, 0.01, 0.1, std::nullopt}; }
inline InputCase positive_case(const Shape& shape) { return {shape, 0, 1, std::nullopt}; }

}  // namespace plimsoll
