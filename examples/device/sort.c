/* sort and top_k: rows are sorted by merging, as lists of places, so that equals stay in their order. */
#include <math.h>
#include <string.h>

#include "element.h"

/* Whether element i comes before element j: `way` 1 for the smallest first, -1 for the largest. A NaN is
 * larger than any number. */
static int precedes(const tensor* x, int64_t i, int64_t j, int way) {
  if (!is_float(x->dtype)) return way * compare_ints(x->dtype, get_int(x, i), get_int(x, j)) < 0;
  const double a = get_real(x, way > 0 ? i : j), b = get_real(x, way > 0 ? j : i);
  return !isnan(a) && (isnan(b) || a < b);
}

/* One row: `size` elements from `base` on, `step` apart. The places come out in `order`; `other` is as large.
 */
typedef struct sorting {
  const tensor* x;
  int64_t base, step, size;
  int way;
  int64_t *order, *other;
} sorting;

static void merge(const sorting* s, int64_t begin, int64_t middle, int64_t end) {
  int64_t i = begin, j = middle;
  for (int64_t to = begin; to < end; ++to) {
    const int second = i == middle || (j < end && precedes(s->x, s->base + s->order[j] * s->step,
                                                           s->base + s->order[i] * s->step, s->way));
    s->other[to] = second ? s->order[j++] : s->order[i++];
  }
}

static void sort_row(sorting* s) {
  for (int64_t i = 0; i < s->size; ++i) s->order[i] = i;
  for (int64_t width = 1; width < s->size; width *= 2) {
    for (int64_t begin = 0; begin < s->size; begin += 2 * width) {
      const int64_t middle = begin + width < s->size ? begin + width : s->size;
      merge(s, begin, middle, middle + width < s->size ? middle + width : s->size);
    }
    int64_t* sorted = s->other;
    s->other = s->order;
    s->order = sorted;
  }
}

static int64_t two_rows(const call* c, int32_t axis) { return 2 * 8 * input(c, 0)->sizes[axis]; }
static int64_t sort_scratch(const call* c) {
  return two_rows(c, axis_of(attr_int(c->node, "axis"), input(c, 0)->rank));
}
static int64_t top_k_scratch(const call* c) { return two_rows(c, input(c, 0)->rank - 1); }

/* All operands in the order of the first. */
static void sort(const call* c) {
  const tensor* x = input(c, 0);
  const int32_t axis = axis_of(attr_int(c->node, "axis"), x->rank);
  int64_t inner = 1;
  for (int32_t i = axis + 1; i < x->rank; ++i) inner *= x->sizes[i];
  for (int64_t row = 0; x->count > 0 && row < x->count / x->sizes[axis]; ++row) {
    const int64_t base = row / inner * x->sizes[axis] * inner + row % inner;
    int64_t* scratch = (int64_t*)c->scratch;
    sorting s = {x, base, inner, x->sizes[axis], 1, scratch, scratch + x->sizes[axis]};
    sort_row(&s);
    for (int32_t k = 0; k < c->node->input_count; ++k) {
      const int64_t size = dtype_size(input(c, k)->dtype);
      for (int64_t i = 0; i < s.size; ++i)
        memcpy(output(c, k)->data + (base + i * inner) * size,
               input(c, k)->data + (base + s.order[i] * inner) * size, (size_t)size);
    }
  }
}

/* The k largest of each row, largest first, and their places. */
static void top_k(const call* c) {
  const tensor *x = input(c, 0), *values = output(c, 0);
  const int64_t size = x->sizes[x->rank - 1], k = attr_int(c->node, "k"), bytes = dtype_size(x->dtype);
  for (int64_t row = 0; values->count > 0 && row < x->count / size; ++row) {
    int64_t* scratch = (int64_t*)c->scratch;
    sorting s = {x, row * size, 1, size, -1, scratch, scratch + size};
    sort_row(&s);
    for (int64_t i = 0; i < k; ++i) {
      memcpy(values->data + (row * k + i) * bytes, x->data + (row * size + s.order[i]) * bytes,
             (size_t)bytes);
      put_int(output(c, 1), row * k + i, s.order[i]);
    }
  }
}

const op sort_ops[] = {
    {"sort", sort, sort_scratch, OVERLAP_NONE, PLIMSOLL_FUSE_NO, 0},
    {"top_k", top_k, top_k_scratch, OVERLAP_NONE, PLIMSOLL_FUSE_NO, 0},
    {NULL, NULL, NULL, OVERLAP_NONE, 0, 0},
};
