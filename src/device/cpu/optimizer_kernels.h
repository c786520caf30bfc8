// Optimizer steps in one pass over a weight and its slots, in the order of operations of Keras 3. A weight
// and its slots are of one float type, halves worked on in f32; the gradient is of that type, or a half.
// The gradient is divided by `scale` first. Every output may be the same bytes as the input it replaces. Safe
// to call from any thread.
#pragma once

#include <cstdint>

#include "plimsoll/dtype.h"
#include "plimsoll/shape.h"

namespace plimsoll {

struct AdamRule {
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  double weight_decay = 0.0;
};
// The types of a weight with its slots and of its gradient.
struct UpdateTypes {
  DType weight, grad;
};

struct AdamArgs {
  const void* w;
  const void* grad;  // dense, or one row per index
  const void* m;
  const void* v;
  double learning_rate;
  int64_t step;  // 0 in the first
  void* w_out;
  void* m_out;
  void* v_out;
  double scale = 1;
};
void adam_step(UpdateTypes types, const AdamRule& rule, const AdamArgs& a, int64_t n, int threads);

// Adam on a table (rows, width) whose gradient is the sum of a.grad[i] at row indices[i]. The same bits as
// the dense step on that sum, but the sum is never stored, and rows that have never had a gradient are not
// written.
struct RowGradient {
  DType index_dtype;
  const void* indices;
  int64_t count;
  int64_t rows;
  int64_t width;
};
int64_t adam_rows_scratch(DType weight, const RowGradient& g, int threads);
void adam_rows_step(UpdateTypes types, const AdamRule& rule, const AdamArgs& a, const RowGradient& g,
                    void* scratch, int threads);

struct SgdArgs {
  const void* w;
  const void* grad;
  const void* velocity;  // (optional) null: no momentum
  double learning_rate;
  void* w_out;
  void* velocity_out;
  double scale = 1;
};
void sgd_step(UpdateTypes types, double momentum, bool nesterov, const SgdArgs& a, int64_t n, int threads);

struct RmspropArgs {
  const void* w;
  const void* grad;
  const void* velocity;
  const void* momentum;  // (optional) null: no momentum
  double learning_rate;
  void* w_out;
  void* velocity_out;
  void* momentum_out;
  double scale = 1;
};
void rmsprop_step(UpdateTypes types, double rho, double momentum, double epsilon, const RmspropArgs& a,
                  int64_t n, int threads);

}  // namespace plimsoll
