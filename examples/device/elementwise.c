/* Element-wise ops: those of functions.h, comparisons, where, clip, cast and isfinite. Each element of the
 * output is made from the elements at its place alone, so the output may lie in the bytes of an input. */
#include <math.h>
#include <string.h>

#include "element.h"
#include "functions.h"

/* A walk over the output with the inputs broadcast: places 0, 1, 2, and the output at place 3. */
static walk walk_inputs(const call* c) {
  const tensor* out = output(c, 0);
  int64_t strides[MAX_RANK];
  walk w = walk_over(out->rank, out->sizes);
  for (int32_t i = 0; i < c->node->input_count; ++i) {
    broadcast_strides(input(c, i), out, strides);
    walk_add(&w, i, 0, strides);
  }
  row_major(out->rank, out->sizes, strides);
  walk_add(&w, 3, 0, strides);
  return w;
}

static void run_function(const call* c) {
  const tensor *a = input(c, 0), *b = input(c, c->node->input_count - 1), *out = output(c, 0);
  const int second = c->node->input_count - 1;
  const function* f = find_function(c->node->op);
  for (walk w = walk_inputs(c); w.left > 0; walk_next(&w)) {
    if (is_float(a->dtype))
      put_real(out, w.place[3], f->real(get_real(a, w.place[0]), get_real(b, w.place[second])));
    else
      put_int(out, w.place[3], f->integer(get_int(a, w.place[0]), get_int(b, w.place[second]), a->dtype));
  }
}

/* Which outcomes of a comparison make it true. */
enum { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };

static int outcome(const tensor* a, int64_t i, const tensor* b, int64_t j) {
  if (!is_float(a->dtype)) return LESS << (1 + compare_ints(a->dtype, get_int(a, i), get_int(b, j)));
  const double x = get_real(a, i), y = get_real(b, j);
  return x < y ? LESS : x > y ? GREATER : x == y ? EQUAL : UNORDERED;
}

static void compare(const call* c, int holds) {
  for (walk w = walk_inputs(c); w.left > 0; walk_next(&w))
    put_int(output(c, 0), w.place[3],
            (outcome(input(c, 0), w.place[0], input(c, 1), w.place[1]) & holds) != 0);
}

#define COMPARISON(name, holds) \
  static void name(const call* c) { compare(c, holds); }
COMPARISON(equal, EQUAL)
COMPARISON(not_equal, LESS | GREATER | UNORDERED)
COMPARISON(less, LESS)
COMPARISON(less_equal, LESS | EQUAL)
COMPARISON(greater, GREATER)
COMPARISON(greater_equal, GREATER | EQUAL)

static void isfinite_(const call* c) {
  const tensor* x = input(c, 0);
  for (int64_t i = 0; i < x->count; ++i)
    put_int(output(c, 0), i, !is_float(x->dtype) || isfinite(get_real(x, i)));
}

static void where(const call* c) {
  const tensor* out = output(c, 0);
  const int64_t size = dtype_size(out->dtype);
  for (walk w = walk_inputs(c); w.left > 0; walk_next(&w)) {
    const int from = get_int(input(c, 0), w.place[0]) ? 1 : 2;
    memmove(out->data + w.place[3] * size, input(c, from)->data + w.place[from] * size, (size_t)size);
  }
}

/* Bounds of an integer tensor are rounded inward, so that no result lies outside. A NaN stays. */
static void clip(const call* c) {
  const tensor *x = input(c, 0), *out = output(c, 0);
  const double low = attr_real(c->node, "low"), high = attr_real(c->node, "high");
  for (int64_t i = 0; i < x->count; ++i) {
    if (is_float(x->dtype)) {
      const double v = get_real(x, i), raised = v < low ? low : v;
      put_real(out, i, raised > high ? high : raised);
    } else {
      const int64_t least = saturate(x->dtype, ceil(low)), most = saturate(x->dtype, floor(high));
      const int64_t v = get_int(x, i), raised = compare_ints(x->dtype, v, least) < 0 ? least : v;
      put_int(out, i, compare_ints(x->dtype, raised, most) > 0 ? most : raised);
    }
  }
}

/* Integers wrap into a narrower type; floats cut off their fraction and saturate; bool is x != 0. */
static void cast(const call* c) {
  const tensor *x = input(c, 0), *out = output(c, 0);
  for (int64_t i = 0; i < x->count; ++i) {
    if (is_float(out->dtype))
      put_real(out, i, get_real(x, i));
    else if (!is_float(x->dtype))
      put_int(out, i, get_int(x, i));
    else if (out->dtype == PLIMSOLL_BOOL)
      put_int(out, i, get_real(x, i) != 0);
    else
      put_int(out, i, saturate(out->dtype, get_real(x, i)));
  }
}

#define MAP(name, run) \
  { name, run, NULL, OVERLAP_SAME_SIZE, PLIMSOLL_FUSE_MAP, 0 }
const op function_op = MAP("function", run_function);
const op elementwise_ops[] = {
    MAP("equal", equal),
    MAP("not_equal", not_equal),
    MAP("less", less),
    MAP("less_equal", less_equal),
    MAP("greater", greater),
    MAP("greater_equal", greater_equal),
    MAP("isfinite", isfinite_),
    MAP("where", where),
    MAP("clip", clip),
    MAP("cast", cast),
    {NULL, NULL, NULL, OVERLAP_NONE, 0, 0},
};
