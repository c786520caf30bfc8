// Functions of keras.ops on numbers and matrices that fewer models call (operation_functions.cpp has the
// rest).
#include <cmath>
#include <limits>
#include <numbers>

#include "layers/base/operation_tables.h"
#include "plimsoll/activations.h"
#include "plimsoll/ops/linalg.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/nn.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll::operation {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor float_of(const Operands& o) { return to_float(x_of(o)); }
Tensor left_of(const Operands& o) { return o.tensor(0, "x1"); }
Tensor right_of(const Operands& o) { return o.tensor(1, "x2"); }
Tensor zero_of(const Tensor& x) { return scalar_like(x, 0); }

// As jax.numpy: infinities are close to themselves.
Tensor is_close(const Operands& o) {
  const Tensor a = to_float(left_of(o)), b = to_float(right_of(o));
  const Tensor reach = absolute(b) * o.real(2, "rtol", 1e-5) + o.real(3, "atol", 1e-8);
  const Tensor close = bitwise_and(isfinite(b), less_equal(absolute(a - b), reach));
  const Tensor y = bitwise_or(equal(a, b), close);
  if (!o.flag(4, "equal_nan")) return y;
  return bitwise_or(y, bitwise_and(not_equal(a, a), not_equal(b, b)));
}

double largest(DType type) {
  if (type == DType::f16) return 65504;
  if (type == DType::bf16) return 0x1.FEp127;
  return type == DType::f64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
}

Tensor nan_to_num(const Operands& o) {
  const Tensor x = x_of(o);
  if (!is_float(x.dtype())) return x;
  const double most = largest(x.dtype());
  const auto replaced = [&](const Tensor& where_true, double by, const Tensor& y) {
    return where(where_true, scalar_like(x, by), y);
  };
  Tensor y = replaced(not_equal(x, x), o.real(1, "nan", 0), x);
  y = replaced(equal(x, scalar_like(x, kInfinity)), o.real(2, "posinf", most), y);
  return replaced(equal(x, scalar_like(x, -kInfinity)), o.real(3, "neginf", -most), y);
}

Tensor round_to(const Operands& o) {
  const Tensor x = x_of(o);
  const int64_t decimals = o.option(1, "decimals") ? o.integer(1, "decimals") : 0;
  if (decimals == 0 || (!is_float(x.dtype()) && decimals > 0)) return round(x);
  if (decimals < -38 || decimals > 38) o.missing("decimals");
  // Divided by the same power of ten as Keras multiplies with: the last bit depends on it.
  const Tensor wide = x.dtype() == DType::f64 ? x : cast(x, DType::f32);
  const Tensor factor = scalar_like(wide, std::pow(10.0, static_cast<double>(decimals)));
  return cast(divide(round(multiply(wide, factor)), factor), x.dtype());
}

Tensor celu(const Operands& o) {
  const Tensor x = float_of(o);
  const double alpha = o.real(1, "alpha", 1);
  const Tensor below = minimum(x, zero_of(x));
  return maximum(x, zero_of(x)) + expm1(below * (1 / alpha)) * alpha;
}
Tensor square_plus(const Operands& o) {
  const Tensor x = float_of(o);
  return (x + sqrt(square(x) + o.real(1, "b", 4))) * 0.5;
}
Tensor soft_shrink(const Operands& o) {
  const Tensor x = float_of(o);
  const double t = o.real(1, "threshold", 0.5);
  return where(greater(x, scalar_like(x, t)), x - t, where(less(x, scalar_like(x, -t)), x + t, zero_of(x)));
}
Tensor hard_shrink(const Operands& o) {
  const Tensor x = float_of(o);
  return where(greater(absolute(x), scalar_like(x, o.real(1, "threshold", 0.5))), x, zero_of(x));
}
Tensor threshold(const Operands& o) {
  const Tensor x = x_of(o);
  return where(greater(x, scalar_like(x, o.real(1, "threshold", 0))), x,
               scalar_like(x, o.real(2, "default_value", 0)));
}
Tensor sparse_max(const Operands& o) {
  const Tensor x = x_of(o);
  if (from_front(o, o.axis(1, "axis", -1), x.rank()) != x.rank() - 1)
    unsupported(o, "sparsemax along another axis than the last");
  return activate("sparsemax", x);
}

Tensor log_add_exp(const Operands& o) {
  const Tensor a = to_float(left_of(o)), b = to_float(right_of(o));
  const Tensor most = maximum(a, b);
  return where(equal(a, b), a + std::numbers::ln2, most + log1p(exp(-absolute(a - b))));
}

Tensor divide_no_nan(const Operands& o) {
  const Tensor a = left_of(o), b = right_of(o);
  const Tensor none = equal(b, zero_of(b));
  const Tensor y = divide(a, where(none, scalar_like(b, 1), b));
  return where(none, zero_of(y), y);
}

Tensor outer(const Operands& o) {
  return multiply(expand_dims(flat(left_of(o)), 1), expand_dims(flat(right_of(o)), 0));
}
Tensor inner(const Operands& o) {
  const Tensor a = left_of(o), b = right_of(o);
  if (a.rank() == 0 || b.rank() == 0) return multiply(a, b);
  return dot_general(a, b, {a.rank() - 1}, {b.rank() - 1}, {}, {});
}
Tensor vdot(const Operands& o) { return dot_general(flat(left_of(o)), flat(right_of(o)), {0}, {0}, {}, {}); }

Tensor cross(const Operands& o) {
  const bool one_axis = o.option(5, "axis") != nullptr;
  const auto axis = [&](size_t i, std::string_view name) {
    return one_axis ? o.axis(5, "axis", -1) : o.axis(i, name, -1);
  };
  const auto parts = [&](const Tensor& x, std::string_view name, size_t i) {
    const int at = from_front(o, axis(i, name), x.rank());
    if (x.shape()[at] != 3) unsupported(o, "the cross product of vectors of other than 3 elements");
    Tensors all;
    for (int64_t k = 0; k < 3; ++k) all.push_back(squeeze(part_of(x, at, k, k + 1), at));
    return all;
  };
  const Tensors a = parts(left_of(o), "axisa", 2), b = parts(right_of(o), "axisb", 3);
  Tensors y;
  for (size_t k = 0; k < 3; ++k) {
    const size_t next = (k + 1) % 3, last = (k + 2) % 3;
    y.push_back(a[next] * b[last] - a[last] * b[next]);
  }
  const int to = from_front(o, axis(4, "axisc"), y[0].rank() + 1);
  for (Tensor& part : y) part = expand_dims(part, to);
  return concatenate(y, to);
}

Tensor norm_of(const Operands& o) {
  const Tensor x = float_of(o);
  const Ints axes = o.ints(2, "axis");
  const bool keep = o.flag(3, "keepdims");
  const Json* order = o.option(1, "ord");
  const bool of_vectors = axes.size() == 1 || (axes.empty() && x.rank() == 1);
  const bool squares = !order || (order->is_string() && *order == "fro") || (of_vectors && *order == 2);
  if (squares) return sqrt(sum(square(x), axes, keep));
  if (of_vectors && *order == 1) return sum(absolute(x), axes, keep);
  if (of_vectors && order->is_number() && std::isinf(order->get<double>()))
    return order->get<double>() > 0 ? max(absolute(x), axes, keep) : min(absolute(x), axes, keep);
  if (axes.size() == 2 &&
      order->is_number()) {  // of matrices: the largest or smallest sum of a column or row
    const double ord = order->get<double>();
    const int row = from_front(o, axes[0], x.rank()), column = from_front(o, axes[1], x.rank());
    if (std::abs(ord) == 1 || std::isinf(ord)) {
      const int summed = std::isinf(ord) ? column : row, other = std::isinf(ord) ? row : column;
      const Tensor sums = sum(absolute(x), {summed}, true);
      const Tensor y = ord > 0 ? max(sums, {other}, true) : min(sums, {other}, true);
      return keep ? y : sum(y, {row, column});
    }
  }
  if (of_vectors && order->is_number() && order->get<double>() != 0) {
    const double ord = order->get<double>();
    return power(sum(power(absolute(x), scalar_like(x, ord)), axes, keep), scalar_like(x, 1 / ord));
  }
  unsupported(o, "a norm of the ord " + order->dump());
}

template <Tensor (*f)(const Tensor&)>
Tensor of_float(const Operands& o) {
  return f(float_of(o));
}
template <Tensor (*f)(const Tensor&, const Tensor&)>
Tensor binary(const Operands& o) {
  return f(left_of(o), right_of(o));
}
template <Tensor (*f)(const Tensor&, const Tensor&)>
Tensor of_xy(const Operands& o) {
  return f(o.tensor(0, "x"), o.tensor(1, "y"));
}
template <int percent_of_pi>  // of 180 degrees, or of 1
Tensor scaled(const Operands& o) {
  constexpr double kDegree = std::numbers::pi / 180;
  return float_of(o) * (percent_of_pi > 0 ? kDegree : 1 / kDegree);
}
template <bool negative>
Tensor is_infinity(const Operands& o) {
  const Tensor x = float_of(o);
  return equal(x, scalar_like(x, negative ? -kInfinity : kInfinity));
}

}  // namespace

const Functions& number_functions() {
  static const Functions all_functions = {
      {"Isclose", is_close},
      {"NanToNum", nan_to_num},
      {"Isposinf", is_infinity<false>},
      {"Isneginf", is_infinity<true>},
      {"Round", round_to},
      {"Fabs", of_float<absolute>},
      {"Cbrt", of_float<cbrt>},
      {"Erfc", of_float<erfc>},
      {"Exp2", [](const Operands& o) { return exp(float_of(o) * std::numbers::ln2); }},
      {"Deg2rad", scaled<1>},
      {"Rad2deg", scaled<-1>},
      {"Fmod", binary<rem>},
      {"Hypot",
       [](const Operands& o) { return sqrt(square(to_float(left_of(o))) + square(to_float(right_of(o)))); }},
      {"Logaddexp", log_add_exp},
      {"DivideNoNan", divide_no_nan},
      {"BitwiseAnd", of_xy<bitwise_and>},
      {"BitwiseOr", of_xy<bitwise_or>},
      {"BitwiseXor", of_xy<bitwise_xor>},
      {"BitwiseLeftShift", of_xy<left_shift>},
      {"LeftShift", of_xy<left_shift>},
      {"BitwiseRightShift", of_xy<right_shift>},
      {"RightShift", of_xy<right_shift>},
      {"BitwiseNot", [](const Operands& o) { return bitwise_not(x_of(o)); }},
      {"BitwiseInvert", [](const Operands& o) { return bitwise_not(x_of(o)); }},
      {"Celu", celu},
      {"Squareplus", square_plus},
      {"SoftShrink", soft_shrink},
      {"HardShrink", hard_shrink},
      {"Threshold", threshold},
      {"Sparsemax", sparse_max},
      {"Outer", outer},
      {"Inner", inner},
      {"Vdot", vdot},
      {"Cross", cross},
      {"Det", of_float<det>},
      {"Inv", of_float<inv>},
      {"Norm", norm_of},
      {"Copy", [](const Operands& o) { return x_of(o); }},
      {"Array", [](const Operands& o) { return cast(x_of(o), o.dtype(1, "dtype", x_of(o).dtype())); }},
  };
  return all_functions;
}

}  // namespace plimsoll::operation
