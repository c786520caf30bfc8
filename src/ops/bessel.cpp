// bessel_i0e(x) and bessel_i1e(x): the modified Bessel functions of the first kind, times e^-|x|. All terms
// of the power series are positive, so it is exact to rounding; where it gets long, 20 terms of Hankel's
// series suffice.
#include <cmath>

#include "ops/elementwise.h"

namespace plimsoll {
namespace {

constexpr double kFar = 30;

template <int kOrder>
double near_zero(double x) {  // x >= 0
  const double q = x * x / 4;
  double term = kOrder == 0 ? 1 : x / 2, sum = term;
  for (int k = 1; term > 1e-17 * sum; ++k) {
    term *= q / (k * double(k + kOrder));
    sum += term;
  }
  return sum * std::exp(-x);
}

template <int kOrder>
double far_away(double x) {
  double term = 1, sum = 1;
  for (int k = 1; k <= 20; ++k) {
    term *= ((2 * k - 1) * (2 * k - 1) - 4 * kOrder * kOrder) / (8 * k * x);
    sum += term;
  }
  return sum / std::sqrt(6.283185307179586 * x);
}

template <int kOrder>
double bessel(double x) {
  const double a = std::fabs(x);
  if (!(a <= 1e300)) return std::isnan(x) ? x : kOrder == 0 ? 0 : std::copysign(0, x);
  const double y = a < kFar ? near_zero<kOrder>(a) : far_away<kOrder>(a);
  return kOrder == 0 ? y : std::copysign(y, x);
}

template <int kOrder, class T>
void tile(const void* const* in, void* out, size_t n, const double*) {
  const T* x = static_cast<const T*>(in[0]);
  T* y = static_cast<T*>(out);
  for (size_t i = 0; i < n; ++i) y[i] = static_cast<T>(bessel<kOrder>(static_cast<double>(x[i])));
}

template <int kOrder>
Tile tile_of(std::span<const TensorType> in, const TensorType&, const Attrs&) {
  return {in[0].dtype == DType::f64 ? tile<kOrder, double> : tile<kOrder, float>,
          {},
          kOrder == 0 ? "i0e(a)" : "i1e(a)"};
}

std::vector<TensorType> infer(const OpCall& call) {
  require_dtype(call, 0, kFloats);
  return {call.in[0]};
}

void grad_i0e(GradContext& g) { g.set(0, g.dout() * (bessel_i1e(g.in(0)) - sign(g.in(0)) * g.out())); }

// I1' = I0 - I1 / x, whose limit at 0 is 1/2.
void grad_i1e(GradContext& g) {
  const Tensor& x = g.in(0);
  const Tensor zero = equal(x, scalar_like(x, 0));
  const Tensor safe = where(zero, scalar_like(x, 1), x);
  const Tensor slope = bessel_i0e(x) - g.out() * (sign(x) + 1.0 / safe);
  g.set(0, g.dout() * where(zero, scalar_like(x, 0.5), slope));
}

std::vector<OpCase> cases() {
  std::vector<OpCase> list;
  for (const Shape& shape : odd_shapes()) list.push_back({{{shape, -8, 8}}, {}});
  list.push_back({{{{301}, 20, 80}}, {}});
  list.push_back({{{{101}, -2000, 2000}}, {}, false});
  return list;
}

constexpr OpDef kDefs[] = {{.name = "bessel_i0e",
                            .infer = infer,
                            .grad = grad_i0e,
                            .tile = tile_of<0>,
                            .cases = cases,
                            .dtypes = kFloats},
                           {.name = "bessel_i1e",
                            .infer = infer,
                            .grad = grad_i1e,
                            .tile = tile_of<1>,
                            .cases = cases,
                            .dtypes = kFloats}};

}  // namespace

std::span<const OpDef> ops_bessel() { return kDefs; }

Tensor bessel_i0e(const Tensor& x) { return apply1(kDefs[0], {to_float(x)}); }
Tensor bessel_i1e(const Tensor& x) { return apply1(kDefs[1], {to_float(x)}); }

}  // namespace plimsoll
