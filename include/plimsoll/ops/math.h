// Element-wise ops. Binary ones broadcast as NumPy does and promote dtypes as Keras does; a plain number
// takes the dtype of the tensor beside it. Names and results are those of keras.ops.
#pragma once

#include "plimsoll/tensor.h"

#pragma GCC visibility push(default)
namespace plimsoll {

Tensor negative(const Tensor& x);
Tensor absolute(const Tensor& x);
Tensor sign(const Tensor& x);
Tensor floor(const Tensor& x);
Tensor ceil(const Tensor& x);
Tensor round(const Tensor& x);  // half to even
Tensor square(const Tensor& x);
Tensor reciprocal(const Tensor& x);
Tensor exp(const Tensor& x);
Tensor expm1(const Tensor& x);
Tensor log(const Tensor& x);
Tensor log1p(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor rsqrt(const Tensor& x);
Tensor cbrt(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor tan(const Tensor& x);
Tensor arcsin(const Tensor& x);
Tensor arccos(const Tensor& x);
Tensor arctan(const Tensor& x);
Tensor sinh(const Tensor& x);
Tensor cosh(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor arcsinh(const Tensor& x);
Tensor arccosh(const Tensor& x);
Tensor arctanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);
Tensor erf(const Tensor& x);
Tensor erfc(const Tensor& x);
Tensor erfinv(const Tensor& x);
Tensor relu(const Tensor& x);
Tensor isfinite(const Tensor& x);     // bool
Tensor logical_not(const Tensor& x);  // bool
Tensor bitwise_not(const Tensor& x);

Tensor add(const Tensor& a, const Tensor& b);
Tensor subtract(const Tensor& a, const Tensor& b);
Tensor multiply(const Tensor& a, const Tensor& b);
Tensor divide(const Tensor& a, const Tensor& b);  // true division: integers meet in float32
Tensor floor_divide(const Tensor& a, const Tensor& b);
Tensor mod(const Tensor& a, const Tensor& b);  // the sign of the divisor, as in Python
Tensor rem(const Tensor& a, const Tensor& b);  // the sign of the dividend, as in C and NumPy's fmod
Tensor power(const Tensor& a, const Tensor& b);
Tensor maximum(const Tensor& a, const Tensor& b);  // NaN wins
Tensor minimum(const Tensor& a, const Tensor& b);
Tensor arctan2(const Tensor& a, const Tensor& b);
Tensor bitwise_and(const Tensor& a, const Tensor& b);  // of bools: logical
Tensor bitwise_or(const Tensor& a, const Tensor& b);
Tensor bitwise_xor(const Tensor& a, const Tensor& b);
Tensor left_shift(const Tensor& a, const Tensor& b);
Tensor right_shift(const Tensor& a, const Tensor& b);  // arithmetic for signed, logical for unsigned

Tensor equal(const Tensor& a, const Tensor& b);  // these six return bool
Tensor not_equal(const Tensor& a, const Tensor& b);
Tensor less(const Tensor& a, const Tensor& b);
Tensor less_equal(const Tensor& a, const Tensor& b);
Tensor greater(const Tensor& a, const Tensor& b);
Tensor greater_equal(const Tensor& a, const Tensor& b);
// condition (bool) ? a : b, all three broadcast.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
Tensor clip(const Tensor& x, double low, double high);
Tensor clip(const Tensor& x, const Tensor& low, const Tensor& high);  // all three broadcast
// The next value of x's dtype from x towards y. No gradient.
Tensor nextafter(const Tensor& x, const Tensor& y);

Tensor cast(const Tensor& x, DType dtype);
// The same bytes as elements of another dtype. Smaller ones get a further, last axis; larger ones take theirs
// from the last axis, which must have just as many.
Tensor bitcast(const Tensor& x, DType dtype);
// x, through which no gradient flows.
Tensor stop_gradient(const Tensor& x);

Tensor bessel_i0e(const Tensor& x);  // the modified Bessel function I0 times e^-|x|
Tensor bessel_i1e(const Tensor& x);
// The regularised incomplete gamma functions P(a, x) and Q(a, x) = 1 - P; differentiable by x.
Tensor igamma(const Tensor& a, const Tensor& x);
Tensor igammac(const Tensor& a, const Tensor& x);
Tensor gamma_density(const Tensor& a, const Tensor& x);  // x^(a-1) e^-x / Gamma(a)

// Made of the above; fused when run in a graph.
Tensor gelu(const Tensor& x, bool approximate = false);
Tensor silu(const Tensor& x);
Tensor softplus(const Tensor& x);
Tensor elu(const Tensor& x, double alpha = 1.0);
Tensor selu(const Tensor& x);
Tensor leaky_relu(const Tensor& x, double negative_slope = 0.2);
Tensor hard_sigmoid(const Tensor& x);
Tensor hard_silu(const Tensor& x);
Tensor relu6(const Tensor& x);

// A concrete scalar of the dtype of `like`, for formulas with plain numbers.
Tensor scalar_like(const Tensor& like, double value);

inline Tensor operator-(const Tensor& x) { return negative(x); }
inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return subtract(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return multiply(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return divide(a, b); }
inline Tensor operator+(const Tensor& a, double b) { return add(a, scalar_like(a, b)); }
inline Tensor operator-(const Tensor& a, double b) { return subtract(a, scalar_like(a, b)); }
inline Tensor operator*(const Tensor& a, double b) { return multiply(a, scalar_like(a, b)); }
inline Tensor operator/(const Tensor& a, double b) { return divide(a, scalar_like(a, b)); }
inline Tensor operator+(double a, const Tensor& b) { return add(scalar_like(b, a), b); }
inline Tensor operator-(double a, const Tensor& b) { return subtract(scalar_like(b, a), b); }
inline Tensor operator*(double a, const Tensor& b) { return multiply(scalar_like(b, a), b); }
inline Tensor operator/(double a, const Tensor& b) { return divide(scalar_like(b, a), b); }

}  // namespace plimsoll
#pragma GCC visibility pop
