/* Elements of tensors, one at a time, and walks over them. Floats are computed in double and rounded when
 * they are stored; integers are computed in 64 bits and wrap when they are stored. */
#ifndef ELEMENT_H
#define ELEMENT_H

#include "interpreter.h"

int64_t dtype_size(int32_t dtype);
int is_float(int32_t dtype);
int is_complex(int32_t dtype);
int is_signed(int32_t dtype); /* integers */

/* Any real element. */
double get_real(const tensor* t, int64_t i);
/* Of a float tensor. */
void put_real(const tensor* t, int64_t i, double value);
/* Integers and bools; a uint64 is its bits. */
int64_t get_int(const tensor* t, int64_t i);
/* A bool becomes value != 0. */
void put_int(const tensor* t, int64_t i, int64_t value);
/* The nearest integer toward zero that the dtype has; NaN is 0. */
int64_t saturate(int32_t dtype, double value);
/* -1, 0 or 1: a below, at or above b, as numbers of the dtype. */
int compare_ints(int32_t dtype, int64_t a, int64_t b);

/* All elements as doubles or, of an integer tensor, as int64 (wide): 8 bytes each. */
void widen(const tensor* t, void* to);
void narrow(const void* from, const tensor* t);

/* A walk over the points of a box in row-major order, with the place of each point in up to four tensors:
 *   for (walk w = walk_over(rank, sizes); w.left > 0; walk_next(&w)) ... w.place[0] ...
 */
enum { WALK_PLACES = 4 };
typedef struct walk {
  int32_t rank;
  int64_t left; /* points */
  int64_t sizes[MAX_RANK];
  int64_t at[MAX_RANK];
  int64_t place[WALK_PLACES];
  int64_t strides[WALK_PLACES][MAX_RANK];
} walk;

walk walk_over(int32_t rank, const int64_t* sizes);
/* Place p starts at `start` and moves by the strides. */
void walk_add(walk* w, int p, int64_t start, const int64_t* strides);
void walk_next(walk* w);

void row_major(int32_t rank, const int64_t* sizes, int64_t* strides);
/* Of `from`, seen from the points of `to`: NumPy's rule. */
void broadcast_strides(const tensor* from, const tensor* to, int64_t* strides);

#endif
