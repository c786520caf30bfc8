/* Ops that move elements: each is a copy of a box, from one set of strides to another. */
#include <string.h>

#include "element.h"

/* Where a box of elements lies in a tensor: the place of its first one, and the steps along each axis. */
typedef struct view {
  int64_t start;
  int64_t strides[MAX_RANK];
} view;

static view whole(const tensor* t) {
  view v = {0, {0}};
  row_major(t->rank, t->sizes, v.strides);
  return v;
}

static void copy_box(int32_t rank, const int64_t* sizes, const tensor* to, const view* at, const tensor* from,
                     const view* seen) {
  const size_t size = (size_t)dtype_size(to->dtype);
  walk w = walk_over(rank, sizes);
  walk_add(&w, 0, at->start, at->strides);
  walk_add(&w, 1, seen->start, seen->strides);
  for (; w.left > 0; walk_next(&w))
    memcpy(to->data + w.place[0] * (int64_t)size, from->data + w.place[1] * (int64_t)size, size);
}

/* The output, from the input seen in another way. */
static void fill_output(const call* c, const view* seen) {
  const tensor* out = output(c, 0);
  const view at = whole(out);
  copy_box(out->rank, out->sizes, out, &at, input(c, 0), seen);
}

static void broadcast_to(const call* c) {
  view seen = {0, {0}};
  broadcast_strides(input(c, 0), output(c, 0), seen.strides);
  fill_output(c, &seen);
}

static void transpose(const call* c) {
  const view own = whole(input(c, 0));
  const int32_t rank = input(c, 0)->rank;
  view seen = own;
  for (int32_t i = 0; i < rank; ++i)
    seen.strides[i] = own.strides[axis_of(attr_item(c->node, "permutation", i, i), rank)];
  fill_output(c, &seen);
}

static void slice(const call* c) {
  view seen = whole(input(c, 0));
  for (int32_t i = 0; i < input(c, 0)->rank; ++i) {
    seen.start += attr_item(c->node, "starts", i, 0) * seen.strides[i];
    seen.strides[i] *= attr_item(c->node, "strides", i, 1);
  }
  fill_output(c, &seen);
}

static void reverse(const call* c) {
  const tensor* x = input(c, 0);
  view seen = whole(x);
  for (int32_t i = 0; i < attr_count(c->node, "axes"); ++i) {
    const int32_t axis = axis_of(attr_item(c->node, "axes", i, 0), x->rank);
    if (seen.strides[axis] < 0) continue; /* named twice */
    seen.start += (x->sizes[axis] - 1) * seen.strides[axis];
    seen.strides[axis] = -seen.strides[axis];
  }
  fill_output(c, &seen);
}

static void concatenate(const call* c) {
  const tensor* out = output(c, 0);
  const int32_t axis = axis_of(attr_int(c->node, "axis"), out->rank);
  view at = whole(out);
  for (int32_t i = 0; i < c->node->input_count; ++i) {
    const tensor* part = input(c, i);
    const view seen = whole(part);
    copy_box(part->rank, part->sizes, out, &at, part, &seen);
    at.start += part->sizes[axis] * at.strides[axis];
  }
}

static void fill(const tensor* t, double value) {
  for (int64_t i = 0; i < t->count; ++i) {
    if (is_float(t->dtype))
      put_real(t, i, value);
    else
      put_int(t, i, t->dtype == PLIMSOLL_BOOL ? value != 0 : saturate(t->dtype, value));
  }
}

/* Elements before, after and between those of the input; negative numbers before and after cut off. */
static void pad(const call* c) {
  const tensor *x = input(c, 0), *out = output(c, 0);
  view at = whole(out), seen = whole(x);
  int64_t box[MAX_RANK];
  fill(out, attr_real(c->node, "value"));
  for (int32_t i = 0; i < x->rank; ++i) {
    const int64_t low = attr_item(c->node, "low", i, 0), step = attr_item(c->node, "interior", i, 0) + 1;
    const int64_t first = low >= 0 ? 0 : (-low + step - 1) / step; /* element of x that is still there */
    const int64_t to = low + first * step;
    const int64_t room = to < out->sizes[i] ? (out->sizes[i] - 1 - to) / step + 1 : 0;
    box[i] = x->sizes[i] - first < room ? x->sizes[i] - first : room;
    if (box[i] <= 0) return;
    at.start += to * at.strides[i];
    at.strides[i] *= step;
    seen.start += first * seen.strides[i];
  }
  copy_box(x->rank, box, out, &at, x, &seen);
}

/* Where a window of these sizes begins in x: starts are clamped so that it lies inside. */
static view window_of(const tensor* x, const int64_t* sizes, const tensor* starts) {
  view v = whole(x);
  for (int32_t i = 0; i < x->rank; ++i) {
    const int64_t wanted = get_int(starts, i), last = x->sizes[i] - sizes[i];
    v.start += (wanted < 0 ? 0 : wanted > last ? last : wanted) * v.strides[i];
  }
  return v;
}

static void dynamic_slice(const call* c) {
  const view seen = window_of(input(c, 0), output(c, 0)->sizes, input(c, 1));
  fill_output(c, &seen);
}

static void dynamic_update_slice(const call* c) {
  const tensor *x = input(c, 0), *update = input(c, 1), *out = output(c, 0);
  const view at = window_of(x, update->sizes, input(c, 2)), seen = whole(update);
  if (out->data != x->data) copy_bytes(out->data, x->data, tensor_bytes(x));
  copy_box(update->rank, update->sizes, out, &at, update, &seen);
}

/* x, but not before the other input is there: the order of a plan sees to that. */
static void after(const call* c) {
  copy_bytes(output(c, 0)->data, input(c, 0)->data, tensor_bytes(input(c, 0)));
}

/* 0, 1, 2, ... along one axis. */
static void iota(const call* c) {
  const tensor* out = output(c, 0);
  const int32_t axis = axis_of(attr_int(c->node, "axis"), out->rank);
  int64_t i = 0;
  for (walk w = walk_over(out->rank, out->sizes); w.left > 0; walk_next(&w), ++i) {
    if (is_float(out->dtype))
      put_real(out, i, (double)w.at[axis]);
    else
      put_int(out, i, w.at[axis]);
  }
}

#define MOVE(name) \
  { #name, name, NULL, OVERLAP_NONE, PLIMSOLL_FUSE_NO, 1 }
const op move_ops[] = {
    {"broadcast_to", broadcast_to, NULL, OVERLAP_NONE, PLIMSOLL_FUSE_MAP, 1},
    MOVE(transpose),
    MOVE(slice),
    MOVE(reverse),
    MOVE(concatenate),
    {"pad", pad, NULL, OVERLAP_NONE, PLIMSOLL_FUSE_NO, 0},
    MOVE(dynamic_slice),
    {"dynamic_update_slice", dynamic_update_slice, NULL, OVERLAP_FIRST, PLIMSOLL_FUSE_NO, 1},
    {"after", after, NULL, OVERLAP_FIRST, PLIMSOLL_FUSE_NO, 1},
    MOVE(iota),
    {NULL, NULL, NULL, OVERLAP_NONE, 0, 0},
};
