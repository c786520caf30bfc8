// MultiHeadAttention: mha({query, value}) or mha({query, value, key}). By name: "attention_mask" (bool, true
// where to look); as constants "use_causal_mask" and "return_attention_scores" (then it has two outputs).
#pragma once

#include "plimsoll/layer.h"

#pragma GCC visibility push(default)
namespace plimsoll {

struct MultiHeadAttentionOptions {
  std::optional<int64_t> value_dim = {};  // none: key_dim
  double dropout = 0.0;
  bool use_bias = true;
  bool use_gate = false;
  Ints output_shape = {};    // empty: the query's last axis
  Ints attention_axes = {};  // empty: all between batch and features
  std::optional<int64_t> sliding_window = {};
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};
  Constraint kernel_constraint = {};
  Constraint bias_constraint = {};
  std::optional<int64_t> seed = {};
  std::string name = {};
};
Layer MultiHeadAttention(int64_t num_heads, int64_t key_dim, const MultiHeadAttentionOptions& options = {});

}  // namespace plimsoll
#pragma GCC visibility pop
