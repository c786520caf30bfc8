// What the optimizer updates share: checks of their operands, and how they read their scalars.
#pragma once

#include <cstring>
#include <utility>

#include "device/cpu/typed.h"
#include "ops/float_ops.h"
#include "plimsoll/ops/optimizer.h"

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

// The two operands a guarded update has behind its `plain` ones: the gradient is divided by a scale, and
// unless the update applies (a bool) the weight and slots stay as they were.
inline bool is_guarded(size_t inputs, size_t plain) { return inputs == plain + 2; }
inline void require_guard(const OpCall& c, size_t plain) {
  if (!is_guarded(c.in.size(), plain)) return;
  require_scalar(c, plain, "scale", false);
  require_type(c, plain + 1, "applies", DType::boolean, {});
}

// The value of a float scalar.
inline double read_real(DType dtype, const void* p) {
  return with_float(dtype, "optimizer",
                    [&]<class S>(S) -> double { return load(*static_cast<const S*>(p)); });
}

// What a kernel reads of its guard.
struct Guard {
  size_t at = 0;  // of the scale among the arguments; 0: there is none
  DType scale_dtype = DType::f32;
  int64_t bytes = 0;  // of the weight and of each slot

  static Guard of(std::span<const TensorType> in, size_t plain) {
    if (!is_guarded(in.size(), plain)) return {};
    return {plain, in[plain].dtype, byte_size(in[0].dtype, in[0].shape)};
  }
  double scale(void* const* a) const { return at == 0 ? 1 : read_real(scale_dtype, a[at]); }
  // True: the update does not apply, and each pair of an old and a new one has the bytes of the old.
  bool holds_back(void* const* a, std::initializer_list<std::pair<const void*, void*>> kept) const {
    if (at == 0 || *static_cast<const uint8_t*>(a[at + 1]) != 0) return false;
    for (const auto& [from, to] : kept) {
      if (from != to && to != nullptr && bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
    }
    return true;
  }
};

// An update in parts: parts(in) is the plain one; `gradient` and `kept` say which operands are the gradient
// and what each output replaces.
template <class F>
std::vector<Tensor> guarded_parts(std::span<const Tensor> in, size_t plain, size_t gradient,
                                  std::initializer_list<size_t> kept, const F& parts) {
  if (!is_guarded(in.size(), plain)) return parts(in);
  std::vector<Tensor> plain_in(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(plain));
  const Tensor grad = wide(in[gradient]);
  plain_in[gradient] = grad / cast(in[plain], grad.dtype());
  std::vector<Tensor> out = parts(plain_in);
  for (size_t i = 0; i < out.size(); ++i) out[i] = where(in[plain + 1], out[i], in[kept.begin()[i]]);
  return out;
}

// Operands of a guarded update, behind those given.
inline std::vector<Tensor> with_guard(std::vector<Tensor> in, const UpdateGuard& guard) {
  if (guard.applies.defined()) in.insert(in.end(), {guard.scale, guard.applies});
  return in;
}

inline Cost update_cost(const OpCall& c, std::span<const TensorType> out) {
  return streaming_cost(c, out, 12);
}

// Operands of the test cases.
inline InputCase rate_case() { return {Shape{}, 0.01, 0.1, std::nullopt}; }
inline InputCase positive_case(const Shape& shape) { return {shape, 0, 1, std::nullopt}; }
// The case, and its guarded form.
inline void add_update(std::vector<OpCase>& list, const OpCase& plain) {
  list.push_back(plain);
  OpCase guarded = plain;
  guarded.in.insert(guarded.in.end(),
                    {InputCase{Shape{}, 2, 9, std::nullopt}, InputCase{Shape{}, 0, 1, DType::boolean}});
  list.push_back(guarded);
}

}  // namespace plimsoll
