// What the ops on matrices share: the last two axes are a matrix, those before them number the matrices.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "device/aligned.h"
#include "device/cpu/lapack.h"
#include "ops/axis_rows.h"
#include "ops/elementwise.h"
#include "ops/float_ops.h"

namespace plimsoll {

struct Matrices {
  int64_t count = 1;
  int rows = 0, columns = 0;

  explicit Matrices(const Shape& shape) {
    for (int i = 0; i < shape.rank() - 2; ++i) count *= shape[i];
    rows = static_cast<int>(shape.dim(-2));
    columns = static_cast<int>(shape.dim(-1));
  }
  int64_t elements() const { return int64_t{rows} * columns; }
  int least() const { return std::min(rows, columns); }
};

inline void require_matrices(const OpCall& call, size_t i, bool square) {
  const TensorType& t = call.in[i];
  require(t.dtype == DType::f32 || t.dtype == DType::f64, call.op.name, "expected float32 or float64, got ",
          t);
  require(t.shape.rank() >= 2, call.op.name, "expected matrices (at least two axes), got ", t);
  for (const int axis : {-2, -1}) {
    require(t.shape.dim(axis) >= 1 && t.shape.dim(axis) <= lapack::kMostRows, call.op.name,
            "expected matrices of 1 to ", lapack::kMostRows, " rows and columns, got ", t);
  }
  require(!square || t.shape.dim(-1) == t.shape.dim(-2), call.op.name, "expected square matrices, got ", t);
}

inline Shape with_matrix(const Shape& s, int64_t rows, int64_t columns) {
  return s.with(s.rank() - 2, rows).with(s.rank() - 1, columns);
}

// body(T{}) for float or double.
template <class F>
auto with_real(DType dtype, const F& body) {
  return dtype == DType::f64 ? body(double{}) : body(float{});
}

// Parts of a thread's scratch, one after the other, each aligned.
class Scratch {
 public:
  explicit Scratch(void* base) : base_(static_cast<char*>(base)) {}
  template <class T>
  T* take(int64_t elements) {
    T* part = reinterpret_cast<T*>(base_ + used_);
    used_ += aligned(elements * static_cast<int64_t>(sizeof(T)));
    return part;
  }
  int64_t used() const { return used_; }

 private:
  char* base_;
  int64_t used_ = 0;
};

template <class T>
bool all_finite(const T* x, int64_t n) {
  return std::all_of(x, x + n, [](T v) { return std::isfinite(v); });
}
template <class T>
void fill_nan(T* x, int64_t n) {
  std::fill(x, x + n, std::numeric_limits<T>::quiet_NaN());
}

inline Cost matrix_cost(const OpCall& call, std::span<const TensorType> out, double factor) {
  const Matrices m(call.in[0].shape);
  return streaming_cost(call, out, factor * m.least());
}

// For gradients.
inline Tensor transposed(const Tensor& x) {
  Ints order;
  for (int i = 0; i < x.rank(); ++i) order.push_back(i);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return transpose(x, order);
}

// Where column - row is at most (lower) or at least (upper) `offset`: bools of the shape of one matrix.
inline Tensor in_triangle(const Tensor& x, bool lower, int64_t offset) {
  const Shape one{x.dim(-2), x.dim(-1)};
  const Tensor row = iota(DType::i64, one, 0) + static_cast<double>(offset),
               column = iota(DType::i64, one, 1);
  return lower ? less_equal(column, row) : greater_equal(column, row);
}
inline Tensor tril(const Tensor& x, int64_t offset = 0) {
  return where(in_triangle(x, true, offset), x, scalar_like(x, 0));
}
inline Tensor triu(const Tensor& x, int64_t offset = 0) {
  return where(in_triangle(x, false, offset), x, scalar_like(x, 0));
}
inline Tensor identity(int64_t rows, int64_t columns) {  // bools
  const Shape one{rows, columns};
  return equal(iota(DType::i64, one, 0), iota(DType::i64, one, 1));
}
inline Tensor on_diagonal(const Tensor& x) { return identity(x.dim(-2), x.dim(-1)); }
inline Tensor diagonal(const Tensor& x) {  // of square matrices
  return sum(where(on_diagonal(x), x, scalar_like(x, 0)), {x.rank() - 1});
}

// The gradient of output i, or zeros.
inline Tensor dout_or_zero(const GradContext& g, int i) {
  if (g.has_dout(i)) return g.dout(i);
  return broadcast_to(g.out(i).graph().constant(scalar_like(g.out(i), 0)), g.out(i).shape());
}

// For the public functions: what is no float64 is computed in float32.
inline DType real_type(DType t) { return t == DType::f64 ? t : DType::f32; }
inline Tensor as_real(const Tensor& x) { return cast(x, real_type(x.dtype())); }
inline Tensor back_to(const Tensor& y, DType dtype) { return is_half(dtype) ? cast(y, dtype) : y; }

}  // namespace plimsoll
