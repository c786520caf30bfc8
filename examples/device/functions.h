/* Element-wise functions of one or two numbers, by the name of their op. A device that compiles would rather
 * print each node's `meaning` (docs/element_language.md); here a C function per op is plainer. */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include "interpreter.h"

/* Those of one number ignore b. Integers come with their dtype: how wide they are, and whether they have a
 * sign. */
typedef struct function {
  const char* name;
  double (*real)(double a, double b);
  int64_t (*integer)(int64_t a, int64_t b, int32_t dtype);
} function;

/* Of special.c. */
double bessel_i0e(double a, double b);
double bessel_i1e(double a, double b);
double igamma(double a, double x);
double igammac(double a, double x);
double gamma_density(double a, double x);

/* Null if there is none. */
const function* find_function(const char* name);

#endif
