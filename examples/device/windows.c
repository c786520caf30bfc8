/* Windows that move over a tensor: reduce_window_sum and _max, select_and_scatter_add, select_and_gather, and
 * pooling, which is the same with windows over the spatial axes alone. Padding adds nothing to a sum and is
 * never a maximum. */
#include <math.h>
#include <string.h>

#include "element.h"

typedef struct windows {
  const tensor* x; /* what they move over; of gradients, the shape of their result */
  int64_t window[MAX_RANK], strides[MAX_RANK], low[MAX_RANK];
} windows;

static windows windows_of(const call* c, const tensor* x) {
  windows w = {x, {0}, {0}, {0}};
  const int32_t pooling =
      attr_count(c->node, "window") - x->rank; /* -2: no entries for the first and the last axis */
  for (int32_t axis = 0; axis < x->rank; ++axis) {
    const int32_t i = pooling == 0 ? axis : axis - 1;
    const int outside = pooling != 0 && (axis == 0 || axis == x->rank - 1);
    w.window[axis] = outside ? 1 : attr_item(c->node, "window", i, 1);
    w.strides[axis] = outside ? 1 : attr_item(c->node, "strides", i, 1);
    w.low[axis] = outside ? 0 : attr_item(c->node, pooling == 0 ? "low" : "pad_low", i, 0);
  }
  return w;
}

/* The points of one window that lie inside x: a walk with the element of x at place 0 and the number of the
 * point in the window at place 1. */
static walk in_window(const windows* w, const int64_t* at) {
  const int32_t rank = w->x->rank;
  int64_t begin[MAX_RANK], sizes[MAX_RANK], x_strides[MAX_RANK], strides[MAX_RANK], x_start = 0, start = 0;
  row_major(rank, w->x->sizes, x_strides);
  row_major(rank, w->window, strides);
  for (int32_t i = 0; i < rank; ++i) {
    const int64_t first = at[i] * w->strides[i] - w->low[i];
    const int64_t left = w->x->sizes[i] - first;
    begin[i] = first < 0 ? -first : 0;
    sizes[i] = (left < w->window[i] ? left : w->window[i]) - begin[i];
    if (sizes[i] < 0) sizes[i] = 0;
    x_start += (first + begin[i]) * x_strides[i];
    start += begin[i] * strides[i];
  }
  walk points = walk_over(rank, sizes);
  walk_add(&points, 0, x_start, x_strides);
  walk_add(&points, 1, start, strides);
  return points;
}

/* Where x is largest in a window, the first of equals, a NaN before all: a walk that stands there; left is 0
 * if the window has no point inside. */
static walk largest(const windows* w, const int64_t* at) {
  walk best = {0};
  for (walk p = in_window(w, at); p.left > 0; walk_next(&p)) {
    if (best.left == 0)
      best = p;
    else if (is_float(w->x->dtype)) {
      const double v = get_real(w->x, p.place[0]), most = get_real(w->x, best.place[0]);
      if (v > most || (isnan(v) && !isnan(most))) best = p;
    } else if (compare_ints(w->x->dtype, get_int(w->x, p.place[0]), get_int(w->x, best.place[0])) > 0)
      best = p;
  }
  return best;
}

static void reduce_window_sum(const call* c) {
  const tensor *x = input(c, 0), *out = output(c, 0);
  const windows w = windows_of(c, x);
  int64_t r = 0;
  for (walk o = walk_over(out->rank, out->sizes); o.left > 0; walk_next(&o), ++r) {
    double real = 0;
    uint64_t integer = 0;
    for (walk p = in_window(&w, o.at); p.left > 0; walk_next(&p)) {
      if (is_float(x->dtype))
        real += get_real(x, p.place[0]);
      else
        integer += (uint64_t)get_int(x, p.place[0]);
    }
    if (is_float(x->dtype))
      put_real(out, r, real);
    else
      put_int(out, r, (int64_t)integer);
  }
}

/* Also max_pool, whose second output says where in its window each maximum lies. */
static void window_max(const call* c) {
  const tensor *x = input(c, 0), *out = output(c, 0);
  const windows w = windows_of(c, x);
  int64_t r = 0;
  for (walk o = walk_over(out->rank, out->sizes); o.left > 0; walk_next(&o), ++r) {
    const walk best = largest(&w, o.at);
    if (is_float(x->dtype))
      put_real(out, r, best.left ? get_real(x, best.place[0]) : -INFINITY);
    else
      put_int(out, r, best.left ? get_int(x, best.place[0]) : saturate(x->dtype, -INFINITY));
    if (c->node->output_count == 2) put_int(output(c, 1), r, best.place[1]);
  }
}

/* The elements of v where x is largest in each window. */
static void select_and_gather(const call* c) {
  const tensor* out = output(c, 0);
  const windows w = windows_of(c, input(c, 0));
  int64_t r = 0;
  for (walk o = walk_over(out->rank, out->sizes); o.left > 0; walk_next(&o), ++r) {
    const walk best = largest(&w, o.at);
    put_real(out, r, best.left ? get_real(input(c, 1), best.place[0]) : 0);
  }
}

/* The elements of x that an index, as max_pool makes it, names. */
static void max_pool_take(const call* c) {
  const tensor *x = input(c, 0), *index = input(c, 1), *out = output(c, 0);
  const windows w = windows_of(c, x);
  int64_t r = 0;
  for (walk o = walk_over(out->rank, out->sizes); o.left > 0; walk_next(&o), ++r) {
    put_real(out, r, 0);
    for (walk p = in_window(&w, o.at); p.left > 0; walk_next(&p)) {
      if (get_int(index, r) == p.place[1]) put_real(out, r, get_real(x, p.place[0]));
    }
  }
}

static void average_pool(const call* c) {
  const tensor *x = input(c, 0), *out = output(c, 0);
  const windows w = windows_of(c, x);
  int64_t r = 0;
  for (walk o = walk_over(out->rank, out->sizes); o.left > 0; walk_next(&o), ++r) {
    double sum = 0, points = 0;
    for (walk p = in_window(&w, o.at); p.left > 0; walk_next(&p), ++points) sum += get_real(x, p.place[0]);
    put_real(out, r, sum / points);
  }
}

/* ---- Gradients: windows overlap, so each element's sum is kept in scratch as a double. */

static int64_t one_sum_each(const call* c) { return 8 * output(c, 0)->count; }

static void select_and_scatter_add(const call* c) {
  const tensor *dy = input(c, 1), *out = output(c, 0);
  const windows w = windows_of(c, input(c, 0));
  double* sums = (double*)c->scratch;
  int64_t r = 0;
  for (int64_t i = 0; i < out->count; ++i) sums[i] = 0;
  for (walk o = walk_over(dy->rank, dy->sizes); o.left > 0; walk_next(&o), ++r) {
    const walk best = largest(&w, o.at);
    if (best.left) sums[best.place[0]] += get_real(dy, r);
  }
  narrow(sums, out);
}

static void max_pool_grad(const call* c) {
  const tensor *dy = input(c, 0), *index = input(c, 1), *out = output(c, 0);
  const windows w = windows_of(c, out);
  double* sums = (double*)c->scratch;
  int64_t r = 0;
  for (int64_t i = 0; i < out->count; ++i) sums[i] = 0;
  for (walk o = walk_over(dy->rank, dy->sizes); o.left > 0; walk_next(&o), ++r) {
    for (walk p = in_window(&w, o.at); p.left > 0; walk_next(&p)) {
      if (get_int(index, r) == p.place[1]) sums[p.place[0]] += get_real(dy, r);
    }
  }
  narrow(sums, out);
}

static void average_pool_grad(const call* c) {
  const tensor *dy = input(c, 0), *out = output(c, 0);
  const windows w = windows_of(c, out);
  double* sums = (double*)c->scratch;
  int64_t r = 0;
  for (int64_t i = 0; i < out->count; ++i) sums[i] = 0;
  for (walk o = walk_over(dy->rank, dy->sizes); o.left > 0; walk_next(&o), ++r) {
    const double share = get_real(dy, r) / (double)in_window(&w, o.at).left;
    for (walk p = in_window(&w, o.at); p.left > 0; walk_next(&p)) sums[p.place[0]] += share;
  }
  narrow(sums, out);
}

#define PLAIN(name, run) \
  { name, run, NULL, OVERLAP_NONE, PLIMSOLL_FUSE_NO, 0 }
#define SUMS(name, run) \
  { name, run, one_sum_each, OVERLAP_NONE, PLIMSOLL_FUSE_NO, 0 }
const op window_ops[] = {
    PLAIN("reduce_window_sum", reduce_window_sum),
    PLAIN("reduce_window_max", window_max),
    PLAIN("select_and_gather", select_and_gather),
    SUMS("select_and_scatter_add", select_and_scatter_add),
    PLAIN("max_pool", window_max),
    PLAIN("max_pool_take", max_pool_take),
    SUMS("max_pool_grad", max_pool_grad),
    PLAIN("average_pool", average_pool),
    SUMS("average_pool_grad", average_pool_grad),
    {NULL, NULL, NULL, OVERLAP_NONE, 0, 0},
};
