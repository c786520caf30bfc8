/* Bessel and incomplete gamma functions, which the C library does not have. */
#define _DEFAULT_SOURCE
#include <math.h>

#include "functions.h"

/* The modified Bessel functions of the first kind, times e^-|x|. All terms of the power series are positive,
 * so it is exact to rounding; where it gets long, 20 terms of Hankel's series suffice. */
static double bessel(double x, int order) {
  const double a = fabs(x);
  double term, sum, y;
  if (!(a <= 1e300)) return isnan(x) ? x : order == 0 ? 0 : copysign(0, x);
  if (a < 30) {
    sum = term = order == 0 ? 1 : a / 2;
    for (int k = 1; term > 1e-17 * sum; ++k) sum += term *= a * a / 4 / (k * (double)(k + order));
    y = sum * exp(-a);
  } else {
    sum = term = 1;
    for (int k = 1; k <= 20; ++k)
      sum += term *= ((2 * k - 1) * (2 * k - 1) - 4 * order * order) / (8 * k * a);
    y = sum / sqrt(6.283185307179586 * a);
  }
  return order == 0 ? y : copysign(y, x);
}
double bessel_i0e(double a, double b) {
  (void)b;
  return bessel(a, 0);
}
double bessel_i1e(double a, double b) {
  (void)b;
  return bessel(a, 1);
}

/* x^a e^-x / Gamma(a + 1). For large a its logarithm is a difference of large numbers: Stirling's formula
 * takes the large part out of both. */
static double prefactor(double a, double x) {
  int sign = 0;
  if (a < 20) return exp(a * log(x) - x - lgamma_r(a + 1, &sign));
  const double d = (x - a) / a, b = a * a;
  const double rest =
      (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - 1.0 / (1188 * b)) / b) / b) / b) / a;
  return exp(a * (fabs(d) < 0.5 ? log1p(d) - d : log(x / a) - d) - rest) / sqrt(6.283185307179586 * a);
}

static double lower_series(double a, double x) {
  double term = 1, sum = 1;
  for (int k = 1; term > 1e-17 * sum && k < 100000; ++k) sum += term *= x / (a + k);
  return sum * prefactor(a, x);
}

/* Lentz's method on Legendre's continued fraction. */
static double upper_fraction(double a, double x) {
  const double tiny = 1e-300;
  double b = x + 1 - a, c = 1 / tiny, d = 1 / b, h = d;
  for (int k = 1; k < 100000; ++k) {
    const double n = k * (a - k);
    b += 2;
    d = n * d + b;
    d = 1 / (fabs(d) < tiny ? tiny : d);
    c = b + n / c;
    c = fabs(c) < tiny ? tiny : c;
    h *= c * d;
    if (fabs(c * d - 1) < 1e-16) break;
  }
  return h * prefactor(a, x) * a;
}

static int outside(double a, double x) { return !(a > 0) || !(x >= 0) || isinf(a); }

double igamma(double a, double x) {
  if (outside(a, x)) return NAN;
  if (x == 0 || isinf(x)) return x == 0 ? 0 : 1;
  return x < a + 1 ? lower_series(a, x) : 1 - upper_fraction(a, x);
}
double igammac(double a, double x) {
  if (outside(a, x)) return NAN;
  if (x == 0 || isinf(x)) return x == 0 ? 1 : 0;
  return x < a + 1 ? 1 - lower_series(a, x) : upper_fraction(a, x);
}
double gamma_density(double a, double x) {
  if (outside(a, x)) return NAN;
  if (x == 0) return a < 1 ? INFINITY : a == 1 ? 1 : 0;
  return isinf(x) ? 0 : prefactor(a, x) * a / x;
}
