// Scaled dot-product attention on (batch, time, heads, width), of any float type, without the matrix of all
// scores: a thread works on one (batch, head) at a time (widened to f32 if it is of halves), block of queries
// after block of queries, and the backward pass computes the scores of a block again from the saved
// log-sum-exp. Sums run in an order fixed by the shapes. Nothing is allocated.
#pragma once

#include <cstdint>

#include "plimsoll/dtype.h"

namespace plimsoll {

struct AttentionSizes {
  DType dtype = DType::f32;
  int64_t batch = 0, heads = 0, queries = 0, keys = 0;
  int64_t width = 0, value_width = 0;  // of q and k, of v and y
  double scale = 1;
  bool causal = false;  // query i sees keys 0 .. i
  bool bias = false;
  int64_t bias_batch = 0, bias_head = 0, bias_query = 0, bias_key = 0;  // strides in elements, 0: broadcast
  int threads = 1;

  // Queries in a block: their scores against all keys should stay in cache.
  int64_t block() const;
};

// From here on a log-sum-exp has rounded away too much of the sum for the probabilities to be made of it.
inline constexpr double kLargestLse = 128;

struct AttentionForward {
  const void *q, *k, *v, *bias;
  void *y, *lse;  // lse: (batch, heads, queries), f32 for halves
};
int64_t attention_forward_scratch(const AttentionSizes& s);
void attention_forward(const AttentionSizes& s, const AttentionForward& a, void* scratch);

struct AttentionBackward {
  const void *q, *k, *v, *bias, *y, *lse, *dy;
  void *dq, *dk, *dv;
  void* dbias;  // (optional) (batch, heads, queries, keys), not yet summed over what was broadcast
};
int64_t attention_backward_scratch(const AttentionSizes& s);
void attention_backward(const AttentionSizes& s, const AttentionBackward& a, void* scratch);

}  // namespace plimsoll
