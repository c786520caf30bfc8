// Attention layers: mha({query, value}) or mha({query, value, key}). By name, those with several heads:
// "attention_mask" (bool, true where to look); as constants "use_causal_mask" and "return_attention_scores"
// (then it has two outputs).
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
  PolicyName dtype = {};
};
Layer MultiHeadAttention(int64_t num_heads, int64_t key_dim, const MultiHeadAttentionOptions& options = {});

// Several query heads share one head of keys and values: num_query_heads is a multiple of
// num_key_value_heads.
struct GroupQueryAttentionOptions {
  double dropout = 0.0;
  bool use_bias = true;
  bool use_gate = false;
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
  PolicyName dtype = {};
};
Layer GroupQueryAttention(int64_t head_dim, int64_t num_query_heads, int64_t num_key_value_heads,
                          const GroupQueryAttentionOptions& options = {});

// One head, nothing projected; masks of query and value are heeded. Constants as above.
struct AttentionOptions {
  bool use_scale = false;
  std::string score_mode = "dot";  // or "concat"
  double dropout = 0.0;
  std::optional<int64_t> seed = {};
  std::string name = {};
  PolicyName dtype = {};
};
Layer Attention(const AttentionOptions& options = {});
struct AdditiveAttentionOptions {
  bool use_scale = true;
  double dropout = 0.0;
  std::optional<int64_t> seed = {};
  std::string name = {};
  PolicyName dtype = {};
};
Layer AdditiveAttention(const AdditiveAttentionOptions& options = {});

}  // namespace plimsoll
#pragma GCC visibility pop
