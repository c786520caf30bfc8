/* dot_general: sums of products over pairs of axes. Axes of the result: batch, then the free axes of a, then
 * those of b, each in their order. */
#include <string.h>

#include "element.h"

/* The axes of one operand by what happens to them. */
typedef struct axes {
  int32_t batch[MAX_RANK], free[MAX_RANK], contract[MAX_RANK];
  int32_t batches, frees, contracts;
} axes;

static axes axes_of_operand(const plimsoll_node* node, const tensor* t, const char* contract,
                            const char* batch) {
  axes a = {{0}, {0}, {0}, attr_count(node, batch), 0, attr_count(node, contract)};
  int used[MAX_RANK] = {0};
  for (int32_t i = 0; i < a.batches; ++i)
    used[a.batch[i] = axis_of(attr_item(node, batch, i, 0), t->rank)] = 1;
  for (int32_t i = 0; i < a.contracts; ++i)
    used[a.contract[i] = axis_of(attr_item(node, contract, i, 0), t->rank)] = 1;
  for (int32_t i = 0; i < t->rank; ++i) {
    if (!used[i]) a.free[a.frees++] = i;
  }
  return a;
}

/* The places of the elements of t as these axes step, the last one fastest. */
static walk along(const tensor* t, const int32_t* which, int32_t count) {
  int64_t sizes[MAX_RANK], strides[MAX_RANK], picked[MAX_RANK];
  row_major(t->rank, t->sizes, strides);
  for (int32_t i = 0; i < count; ++i) {
    sizes[i] = t->sizes[which[i]];
    picked[i] = strides[which[i]];
  }
  walk w = walk_over(count, sizes);
  walk_add(&w, 0, 0, picked);
  return w;
}

/* What the innermost loop reads: both operands, 8 bytes an element, and where along the contracted axes. */
typedef struct pairs {
  const void *a, *b;
  const int64_t *a_at, *b_at;
  int64_t count;
} pairs;

static double sum_reals(const pairs* p, int64_t i, int64_t j) {
  const double *a = (const double*)p->a + i, *b = (const double*)p->b + j;
  double sum = 0;
  for (int64_t k = 0; k < p->count; ++k) sum += a[p->a_at[k]] * b[p->b_at[k]];
  return sum;
}
static int64_t sum_ints(const pairs* p, int64_t i, int64_t j) {
  const uint64_t *a = (const uint64_t*)p->a + i, *b = (const uint64_t*)p->b + j;
  uint64_t sum = 0;
  for (int64_t k = 0; k < p->count; ++k) sum += a[p->a_at[k]] * b[p->b_at[k]];
  return (int64_t)sum;
}

static axes axes_of_a(const call* c) {
  return axes_of_operand(c->node, input(c, 0), "a_contract", "a_batch");
}
static axes axes_of_b(const call* c) {
  return axes_of_operand(c->node, input(c, 1), "b_contract", "b_batch");
}

static int64_t scratch_bytes(const call* c) {
  const axes a = axes_of_a(c);
  return 8 * (input(c, 0)->count + input(c, 1)->count + 2 * along(input(c, 0), a.contract, a.contracts).left);
}

static pairs make_pairs(const call* c, const axes* in_a, const axes* in_b) {
  const tensor *a = input(c, 0), *b = input(c, 1);
  walk i = along(a, in_a->contract, in_a->contracts), j = along(b, in_b->contract, in_b->contracts);
  int64_t* wide = (int64_t*)c->scratch;
  int64_t *a_at = wide + a->count + b->count, *b_at = a_at + i.left;
  const pairs p = {wide, wide + a->count, a_at, b_at, i.left};
  widen(a, wide);
  widen(b, wide + a->count);
  for (; i.left > 0; walk_next(&i)) *a_at++ = i.place[0];
  for (; j.left > 0; walk_next(&j)) *b_at++ = j.place[0];
  return p;
}

static void dot_general(const call* c) {
  const tensor *a = input(c, 0), *b = input(c, 1), *out = output(c, 0);
  const axes in_a = axes_of_a(c), in_b = axes_of_b(c);
  const pairs p = make_pairs(c, &in_a, &in_b);
  walk z = along(a, in_a.batch, in_a.batches), y = along(b, in_b.batch, in_b.batches);
  int64_t to = 0;
  for (; z.left > 0; walk_next(&z), walk_next(&y)) {
    for (walk i = along(a, in_a.free, in_a.frees); i.left > 0; walk_next(&i)) {
      for (walk j = along(b, in_b.free, in_b.frees); j.left > 0; walk_next(&j), ++to) {
        if (is_float(a->dtype))
          put_real(out, to, sum_reals(&p, z.place[0] + i.place[0], y.place[0] + j.place[0]));
        else
          put_int(out, to, sum_ints(&p, z.place[0] + i.place[0], y.place[0] + j.place[0]));
      }
    }
  }
}

const op contract_ops[] = {
    {"dot_general", dot_general, scratch_bytes, OVERLAP_NONE, PLIMSOLL_FUSE_NO, 0},
    {NULL, NULL, NULL, OVERLAP_NONE, 0, 0},
};
