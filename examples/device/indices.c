/* Rows picked and put by integers: take, gather_nd, scatter_nd. */
#include <math.h>
#include <string.h>

#include "element.h"

/* Elements of the axes [begin, end). */
static int64_t product(const tensor* t, int32_t begin, int32_t end) {
  int64_t n = 1;
  for (int32_t i = begin; i < end; ++i) n *= t->sizes[i];
  return n;
}

/* Negative indices count from the end; what is still outside is clamped. */
static int64_t wrap(int64_t index, int64_t size) {
  if (index < 0) index = index < -size ? 0 : index + size;
  return index < size ? index : size - 1;
}

static void take(const call* c) {
  const tensor *x = input(c, 0), *indices = input(c, 1), *out = output(c, 0);
  const int32_t axis = axis_of(attr_int(c->node, "axis"), x->rank);
  const int64_t size = x->sizes[axis], row = product(x, axis + 1, x->rank) * dtype_size(x->dtype);
  if (out->count == 0) return;
  for (int64_t r = 0; r < product(x, 0, axis) * indices->count; ++r) {
    const int64_t i = wrap(get_int(indices, r % indices->count), size);
    memcpy(out->data + r * row, x->data + (r / indices->count * size + i) * row, (size_t)row);
  }
}

static void gather_nd(const call* c) {
  const tensor *x = input(c, 0), *indices = input(c, 1), *out = output(c, 0);
  const int32_t columns = (int32_t)indices->sizes[indices->rank - 1];
  const int64_t row = product(x, columns, x->rank) * dtype_size(x->dtype);
  if (out->count == 0) return;
  for (int64_t r = 0; r < product(indices, 0, indices->rank - 1); ++r) {
    int64_t at = 0;
    for (int32_t i = 0; i < columns; ++i)
      at = at * x->sizes[i] + wrap(get_int(indices, r * columns + i), x->sizes[i]);
    memcpy(out->data + r * row, x->data + at * row, (size_t)row);
  }
}

enum mode { SET, ADD, MUL, MIN, MAX };

static enum mode mode_of(const char* name) {
  static const char* const names[] = {"set", "add", "mul", "min", "max"};
  int mode = SET;
  while (mode < MAX && strcmp(names[mode], name) != 0) ++mode;
  return (enum mode)mode;
}

static double combine_reals(double a, double b, enum mode mode) {
  switch (mode) {
    case ADD: return a + b;
    case MUL: return a * b;
    case MIN: return b < a || isnan(b) ? b : a;
    case MAX: return b > a || isnan(b) ? b : a;
    default: return b;
  }
}
static int64_t combine_ints(int32_t dtype, int64_t a, int64_t b, enum mode mode) {
  switch (mode) {
    case ADD: return (int64_t)((uint64_t)a + (uint64_t)b);
    case MUL: return (int64_t)((uint64_t)a * (uint64_t)b);
    case MIN: return compare_ints(dtype, b, a) < 0 ? b : a;
    case MAX: return compare_ints(dtype, b, a) > 0 ? b : a;
    default: return b;
  }
}

/* x with rows combined in, one after the other. Indices outside x are dropped. */
static void scatter_nd(const call* c) {
  const tensor *x = input(c, 0), *indices = input(c, 1), *updates = input(c, 2), *out = output(c, 0);
  const enum mode mode = mode_of(attr_string(c->node, "mode"));
  const int32_t columns = (int32_t)indices->sizes[indices->rank - 1];
  const int64_t row = product(x, columns, x->rank);
  if (out->data != x->data) copy_bytes(out->data, x->data, tensor_bytes(x));
  for (int64_t r = 0; r < product(indices, 0, indices->rank - 1); ++r) {
    int64_t at = 0, inside = 1;
    for (int32_t i = 0; i < columns; ++i) {
      const int64_t index = get_int(indices, r * columns + i);
      inside = inside && index >= 0 && index < x->sizes[i];
      at = inside ? at * x->sizes[i] + index : 0;
    }
    for (int64_t k = 0; inside && k < row; ++k) {
      const int64_t to = at * row + k, from = r * row + k;
      if (is_float(x->dtype))
        put_real(out, to, combine_reals(get_real(out, to), get_real(updates, from), mode));
      else
        put_int(out, to, combine_ints(x->dtype, get_int(out, to), get_int(updates, from), mode));
    }
  }
}

const op index_ops[] = {
    {"take", take, NULL, OVERLAP_NONE, PLIMSOLL_FUSE_NO, 1},
    {"gather_nd", gather_nd, NULL, OVERLAP_NONE, PLIMSOLL_FUSE_NO, 1},
    {"scatter_nd", scatter_nd, NULL, OVERLAP_FIRST, PLIMSOLL_FUSE_NO, 0},
    {NULL, NULL, NULL, OVERLAP_NONE, 0, 0},
};
