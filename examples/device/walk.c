#include <string.h>

#include "element.h"

walk walk_over(int32_t rank, const int64_t* sizes) {
  walk w;
  memset(&w, 0, sizeof w);
  w.rank = rank;
  w.left = 1;
  for (int32_t axis = 0; axis < rank; ++axis) {
    w.sizes[axis] = sizes[axis];
    w.left *= sizes[axis];
  }
  return w;
}

void walk_add(walk* w, int p, int64_t start, const int64_t* strides) {
  w->place[p] = start;
  for (int32_t axis = 0; axis < w->rank; ++axis) w->strides[p][axis] = strides[axis];
}

void walk_next(walk* w) {
  --w->left;
  for (int32_t axis = w->rank - 1; axis >= 0; --axis) {
    const int last = ++w->at[axis] == w->sizes[axis];
    for (int p = 0; p < WALK_PLACES; ++p)
      w->place[p] += last ? w->strides[p][axis] * (1 - w->sizes[axis]) : w->strides[p][axis];
    if (!last) return;
    w->at[axis] = 0;
  }
}

void row_major(int32_t rank, const int64_t* sizes, int64_t* strides) {
  int64_t stride = 1;
  for (int32_t axis = rank - 1; axis >= 0; --axis) {
    strides[axis] = stride;
    stride *= sizes[axis];
  }
}

void broadcast_strides(const tensor* from, const tensor* to, int64_t* strides) {
  int64_t own[MAX_RANK];
  row_major(from->rank, from->sizes, own);
  for (int32_t axis = 0; axis < to->rank; ++axis) {
    const int32_t mine = axis - (to->rank - from->rank);
    strides[axis] = mine < 0 || from->sizes[mine] == 1 ? 0 : own[mine];
  }
}
