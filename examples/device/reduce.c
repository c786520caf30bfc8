/* Ops along axes: reduce_sum and its kin, argmax and argmin, cumsum, cumprod and cummax. */
#include <math.h>
#include <string.h>

#include "element.h"

enum fold { SUM, PROD, MAX, MIN };

/* Float sums are kept in double on the way; a NaN wins. */
static double fold_reals(enum fold f, double a, double b) {
  switch (f) {
    case SUM: return a + b;
    case PROD: return a * b;
    case MAX: return b > a || isnan(b) ? b : a;
    default: return b < a || isnan(b) ? b : a;
  }
}
static int64_t fold_ints(enum fold f, int32_t dtype, int64_t a, int64_t b) {
  switch (f) {
    case SUM: return (int64_t)((uint64_t)a + (uint64_t)b);
    case PROD: return (int64_t)((uint64_t)a * (uint64_t)b);
    case MAX: return compare_ints(dtype, a, b) < 0 ? b : a;
    default: return compare_ints(dtype, a, b) > 0 ? b : a;
  }
}
/* What a fold of nothing is. */
static double nothing(enum fold f) { return f == SUM ? 0 : f == PROD ? 1 : f == MAX ? -INFINITY : INFINITY; }

/* The strides of the output, seen from the points of the input: 0 along the axes that are folded (none named:
 * all). */
static void fold_strides(const call* c, int64_t* strides) {
  const tensor* x = input(c, 0);
  const int32_t named = attr_count(c->node, "axes");
  int folded[MAX_RANK] = {0};
  int64_t stride = 1;
  for (int32_t i = 0; i < named; ++i) folded[axis_of(attr_item(c->node, "axes", i, 0), x->rank)] = 1;
  for (int32_t axis = x->rank - 1; axis >= 0; --axis) {
    strides[axis] = named == 0 || folded[axis] ? 0 : stride;
    if (strides[axis] != 0) stride *= x->sizes[axis];
  }
}

static void reduce(const call* c, enum fold f) {
  const tensor *x = input(c, 0), *out = output(c, 0);
  double* reals = (double*)c->scratch; /* one sum per element of the output */
  int64_t* ints = (int64_t*)c->scratch;
  int64_t strides[MAX_RANK], i = 0;
  for (int64_t k = 0; k < out->count; ++k) {
    if (is_float(x->dtype))
      reals[k] = nothing(f);
    else
      ints[k] = saturate(x->dtype, nothing(f));
  }
  fold_strides(c, strides);
  walk w = walk_over(x->rank, x->sizes);
  walk_add(&w, 0, 0, strides);
  for (; w.left > 0; walk_next(&w), ++i) {
    const int64_t k = w.place[0];
    if (is_float(x->dtype))
      reals[k] = fold_reals(f, reals[k], get_real(x, i));
    else
      ints[k] = fold_ints(f, x->dtype, ints[k], get_int(x, i));
  }
  narrow(c->scratch, out);
}
static int64_t one_sum_each(const call* c) { return 8 * output(c, 0)->count; }

/* x as (outer, size, inner) around one axis. */
typedef struct rows {
  int64_t outer, size, inner;
} rows;
static rows rows_of(const call* c) {
  const tensor* x = input(c, 0);
  const int32_t axis = axis_of(attr_int(c->node, "axis"), x->rank);
  rows r = {1, x->sizes[axis], 1};
  for (int32_t i = 0; i < axis; ++i) r.outer *= x->sizes[i];
  for (int32_t i = axis + 1; i < x->rank; ++i) r.inner *= x->sizes[i];
  return r;
}
/* The element of row `i` at `k` along the axis. */
static int64_t in_row(const rows* r, int64_t i, int64_t k) {
  return i / r->inner * r->size * r->inner + i % r->inner + k * r->inner;
}

/* Whether element i is further out than element j: `way` 1 above it, -1 below. A NaN is further than any
 * number. */
static int beats(const tensor* x, int64_t i, int64_t j, int way) {
  if (!is_float(x->dtype)) return compare_ints(x->dtype, get_int(x, i), get_int(x, j)) == way;
  const double a = get_real(x, i), b = get_real(x, j);
  return !isnan(b) && (isnan(a) || (way > 0 ? a > b : a < b));
}

static void arg_reduce(const call* c, int way) {
  const tensor* x = input(c, 0);
  const rows r = rows_of(c);
  for (int64_t i = 0; i < r.outer * r.inner; ++i) {
    int64_t best = 0;
    for (int64_t k = 1; k < r.size; ++k) {
      if (beats(x, in_row(&r, i, k), in_row(&r, i, best), way)) best = k;
    }
    put_int(output(c, 0), i, best);
  }
}

/* Each element is read before it is written: the output may be the input. */
static void cumulate(const call* c, enum fold f) {
  const tensor *x = input(c, 0), *out = output(c, 0);
  const rows r = rows_of(c);
  const int backwards = attr_int(c->node, "reverse") != 0;
  for (int64_t i = 0; i < r.outer * r.inner; ++i) {
    double real = 0;
    int64_t integer = 0;
    for (int64_t k = 0; k < r.size; ++k) {
      const int64_t at = in_row(&r, i, backwards ? r.size - 1 - k : k);
      if (is_float(x->dtype)) {
        real = k ? fold_reals(f, real, get_real(x, at)) : get_real(x, at);
        put_real(out, at, real);
      } else {
        integer = k ? fold_ints(f, x->dtype, integer, get_int(x, at)) : get_int(x, at);
        put_int(out, at, integer);
      }
    }
  }
}

#define RUN(name, what) \
  static void name(const call* c) { what; }
RUN(reduce_sum, reduce(c, SUM))
RUN(reduce_prod, reduce(c, PROD))
RUN(reduce_max, reduce(c, MAX))
RUN(reduce_min, reduce(c, MIN))
RUN(argmax, arg_reduce(c, 1))
RUN(argmin, arg_reduce(c, -1))
RUN(cumsum, cumulate(c, SUM))
RUN(cumprod, cumulate(c, PROD))
RUN(cummax, cumulate(c, MAX))

#define FOLD(name, run) \
  { name, run, one_sum_each, OVERLAP_NONE, PLIMSOLL_FUSE_FOLD, 0 }
const op reduce_ops[] = {
    FOLD("reduce_sum", reduce_sum),
    FOLD("reduce_prod", reduce_prod),
    FOLD("reduce_max", reduce_max),
    FOLD("reduce_min", reduce_min),
    FOLD("reduce_and", reduce_min), /* of bools */
    FOLD("reduce_or", reduce_max),
    {"argmax", argmax, NULL, OVERLAP_NONE, PLIMSOLL_FUSE_NO, 0},
    {"argmin", argmin, NULL, OVERLAP_NONE, PLIMSOLL_FUSE_NO, 0},
    {"cumsum", cumsum, NULL, OVERLAP_FIRST, PLIMSOLL_FUSE_NO, 0},
    {"cumprod", cumprod, NULL, OVERLAP_FIRST, PLIMSOLL_FUSE_NO, 0},
    {"cummax", cummax, NULL, OVERLAP_FIRST, PLIMSOLL_FUSE_NO, 0},
    {NULL, NULL, NULL, OVERLAP_NONE, 0, 0},
};
