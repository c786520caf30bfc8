#include "functions.h"

#include <math.h>
#include <string.h>

#include "element.h"

#define REAL(name, ...)                    \
  static double name(double a, double b) { \
    (void)b;                               \
    __VA_ARGS__                            \
  }
#define INTEGER(name, ...)                                   \
  static int64_t name(int64_t a, int64_t b, int32_t dtype) { \
    (void)b, (void)dtype;                                    \
    __VA_ARGS__                                              \
  }

REAL(negative, return -a;)
REAL(sign, return isnan(a) ? a : (a > 0) - (a < 0);)
REAL(square, return a * a;)
REAL(reciprocal, return 1 / a;)
REAL(do_rsqrt, return 1 / sqrt(a);)
REAL(sigmoid, return 1 / (1 + exp(-a));)
REAL(relu, return a > 0 || isnan(a) ? a : 0;)
REAL(absolute, return fabs(a);)
REAL(do_floor, return floor(a);)
REAL(do_ceil, return ceil(a);)
REAL(do_round, return rint(a);) /* of two, the even one */
REAL(do_exp, return exp(a);)
REAL(do_expm1, return expm1(a);)
REAL(do_log, return log(a);)
REAL(do_log1p, return log1p(a);)
REAL(do_sqrt, return sqrt(a);)
REAL(do_cbrt, return cbrt(a);)
REAL(do_sin, return sin(a);)
REAL(do_cos, return cos(a);)
REAL(do_tan, return tan(a);)
REAL(do_asin, return asin(a);)
REAL(do_acos, return acos(a);)
REAL(do_atan, return atan(a);)
REAL(do_sinh, return sinh(a);)
REAL(do_cosh, return cosh(a);)
REAL(do_tanh, return tanh(a);)
REAL(do_asinh, return asinh(a);)
REAL(do_acosh, return acosh(a);)
REAL(do_atanh, return atanh(a);)
REAL(do_erf, return erf(a);)
REAL(do_erfc, return erfc(a);)

/* Winitzki's formula, then Halley's method on erf, or on erfc near the ends, where 1 - y is exact. */
static double erfinv(double y, double b) {
  (void)b;
  if (!(fabs(y) < 1)) return y == 1 ? INFINITY : y == -1 ? -INFINITY : NAN;
  if (y == 0) return y;
  const double l = log1p(-y * y), t = 4.3307467508 + 0.5 * l; /* 2 / (pi 0.147) */
  double x = copysign(sqrt(sqrt(t * t - l / 0.147) - t), y);
  for (int i = 0; i < 3; ++i) {
    const double tail = (1 - fabs(y)) - erfc(fabs(x));
    const double error = fabs(y) < 0.5 ? erf(x) - y : y < 0 ? -tail : tail;
    const double step = error / (1.1283791670955126 * exp(-x * x)); /* 2 / sqrt(pi) */
    x -= step / (1 + x * step);
  }
  return x;
}

REAL(add, return a + b;)
REAL(subtract, return a - b;)
REAL(multiply, return a * b;)
REAL(divide, return a / b;)
REAL(power, return pow(a, b);)
REAL(arctan2, return atan2(a, b);)
REAL(rem, return fmod(a, b);)                    /* C's: with the sign of a */
REAL(maximum, return isnan(a) || a > b ? a : b;) /* a NaN wins */
REAL(minimum, return isnan(a) || a < b ? a : b;)
/* Python's: the remainder has the sign of the divisor, the quotient is what goes with it. */
REAL(mod, const double r = fmod(a, b); if (r == 0) return copysign(r, b);
     return (r < 0) != (b < 0) ? r + b : r;)
REAL(floor_divide, if (b == 0) return a / b; const double r = fmod(a, b);
     const double q = (a - r) / b - (r != 0 && (r < 0) != (b < 0)); if (q == 0) return copysign(0, a / b);
     return rint(q);)

INTEGER(same, return a;)
INTEGER(int_add, return (int64_t)((uint64_t)a + (uint64_t)b);)
INTEGER(int_subtract, return (int64_t)((uint64_t)a - (uint64_t)b);)
INTEGER(int_multiply, return (int64_t)((uint64_t)a * (uint64_t)b);)
INTEGER(int_square, return int_multiply(a, a, dtype);)
INTEGER(int_negative, return int_subtract(0, a, dtype);)
INTEGER(int_absolute, return is_signed(dtype) && a < 0 ? int_negative(a, 0, dtype) : a;)
INTEGER(int_sign, return compare_ints(dtype, a, 0);)
INTEGER(int_relu, return compare_ints(dtype, a, 0) > 0 ? a : 0;)
INTEGER(int_maximum, return compare_ints(dtype, a, b) > 0 ? a : b;)
INTEGER(int_minimum, return compare_ints(dtype, a, b) < 0 ? a : b;)
INTEGER(bitwise_and, return a & b;)
INTEGER(bitwise_or, return a | b;)
INTEGER(bitwise_xor, return a ^ b;)
INTEGER(bitwise_not, return dtype == PLIMSOLL_BOOL ? !a : ~a;)

/* As in NumPy: divided by zero is 0, and so is the remainder; the least number / -1 is itself. */
static int64_t int_mod(int64_t a, int64_t b, int32_t dtype) {
  if (b == 0) return 0;
  if (!is_signed(dtype)) return (int64_t)((uint64_t)a % (uint64_t)b);
  if (b == -1) return 0;
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
static int64_t int_rem(int64_t a, int64_t b, int32_t dtype) {
  if (b == 0 || (is_signed(dtype) && b == -1)) return 0;
  return is_signed(dtype) ? a % b : (int64_t)((uint64_t)a % (uint64_t)b);
}
static int64_t int_floor_divide(int64_t a, int64_t b, int32_t dtype) {
  if (b == 0) return 0;
  if (!is_signed(dtype)) return (int64_t)((uint64_t)a / (uint64_t)b);
  if (b == -1) return int_negative(a, 0, dtype);
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
/* A negative exponent gives the reciprocal rounded toward 0: only 1 and -1 have one. */
static int64_t int_power(int64_t a, int64_t b, int32_t dtype) {
  int64_t result = 1;
  if (is_signed(dtype) && b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
  for (uint64_t e = (uint64_t)b; e; e >>= 1) {
    if (e & 1) result = int_multiply(result, a, dtype);
    a = int_multiply(a, a, dtype);
  }
  return result;
}
/* Shifts by the width or more, or by less than 0, push all bits out. */
static int64_t left_shift(int64_t a, int64_t b, int32_t dtype) {
  return (uint64_t)b >= (uint64_t)(8 * dtype_size(dtype)) ? 0 : (int64_t)((uint64_t)a << b);
}
static int64_t right_shift(int64_t a, int64_t b, int32_t dtype) {
  if (!is_signed(dtype)) return (uint64_t)b >= 64 ? 0 : (int64_t)((uint64_t)a >> b);
  if ((uint64_t)b >= (uint64_t)(8 * dtype_size(dtype))) return a < 0 ? -1 : 0;
  return a < 0 ? ~(~a >> b) : a >> b;
}

static const function functions[] = {
    {"negative", negative, int_negative},
    {"absolute", absolute, int_absolute},
    {"sign", sign, int_sign},
    {"floor", do_floor, same},
    {"ceil", do_ceil, same},
    {"round", do_round, same},
    {"square", square, int_square},
    {"relu", relu, int_relu},
    {"bitwise_not", NULL, bitwise_not},
    {"logical_not", NULL, bitwise_not},
    {"reciprocal", reciprocal, NULL},
    {"exp", do_exp, NULL},
    {"expm1", do_expm1, NULL},
    {"log", do_log, NULL},
    {"log1p", do_log1p, NULL},
    {"sqrt", do_sqrt, NULL},
    {"rsqrt", do_rsqrt, NULL},
    {"cbrt", do_cbrt, NULL},
    {"sin", do_sin, NULL},
    {"cos", do_cos, NULL},
    {"tan", do_tan, NULL},
    {"arcsin", do_asin, NULL},
    {"arccos", do_acos, NULL},
    {"arctan", do_atan, NULL},
    {"sinh", do_sinh, NULL},
    {"cosh", do_cosh, NULL},
    {"tanh", do_tanh, NULL},
    {"arcsinh", do_asinh, NULL},
    {"arccosh", do_acosh, NULL},
    {"arctanh", do_atanh, NULL},
    {"sigmoid", sigmoid, NULL},
    {"erf", do_erf, NULL},
    {"erfc", do_erfc, NULL},
    {"erfinv", erfinv, NULL},
    {"bessel_i0e", bessel_i0e, NULL},
    {"bessel_i1e", bessel_i1e, NULL},
    {"igamma", igamma, NULL},
    {"igammac", igammac, NULL},
    {"gamma_density", gamma_density, NULL},
    {"add", add, int_add},
    {"subtract", subtract, int_subtract},
    {"multiply", multiply, int_multiply},
    {"divide", divide, NULL},
    {"floor_divide", floor_divide, int_floor_divide},
    {"mod", mod, int_mod},
    {"rem", rem, int_rem},
    {"power", power, int_power},
    {"maximum", maximum, int_maximum},
    {"minimum", minimum, int_minimum},
    {"arctan2", arctan2, NULL},
    {"bitwise_and", NULL, bitwise_and},
    {"bitwise_or", NULL, bitwise_or},
    {"bitwise_xor", NULL, bitwise_xor},
    {"left_shift", NULL, left_shift},
    {"right_shift", NULL, right_shift},
};

const function* find_function(const char* name) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
    if (strcmp(functions[i].name, name) == 0) return &functions[i];
  }
  return NULL;
}
