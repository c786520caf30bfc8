// What the attention layers share: projections to heads, masks, and the attention itself.
#pragma once

#include <optional>
#include <utility>

#include "layers/base/einsum.h"
#include "layers/base/parts.h"
#include "plimsoll/error.h"

namespace plimsoll {

// `count` letters from `from` on.
std::string letters(char from, int count);
// Whether a call was given the constant `name` as true.
bool attention_flag(const Scope& s, std::string_view name);

// What a call was given: query, value and perhaps key, positional or by name; the key is the value if there
// is none, and has a mask of its own only if there is one. Throws naming the layer.
struct AttentionCall {
  AttentionCall(Scope& s, std::span<const Tensor> xs);
  Tensor query, value, key;
  Tensor query_mask, value_mask, key_mask;  // undefined: none
  bool wants_scores, causal;
};

struct AttentionHeads {
  Tensor query, key, value;  // (batch, positions..., heads, width)
};

// Where a query may look, broadcasting to (batch, queries, keys): the masks of query, value and key, a causal
// and a sliding one, and the call's "attention_mask". Undefined: everywhere.
Tensor attention_visible(Scope& s, const AttentionCall& in, bool causal,
                         const std::optional<int64_t>& window);

struct AttentionDropout {
  double rate = 0;
  std::optional<int64_t> seed = {};
  std::string_view generator;
};
// Any axes, with scores: {result, scores}.
std::pair<Tensor, Tensor> attend_widely(Scope& s, const AttentionHeads& h, const Ints& axes, Tensor mask,
                                        double scale, const AttentionDropout& dropout);
// By the engine's own op where that can do it, else widely: {result, scores}, which are undefined unless the
// call wants them or there is dropout.
std::pair<Tensor, Tensor> attend(Scope& s, const AttentionCall& call, const AttentionHeads& h,
                                 const Ints& axes, const std::optional<int64_t>& window,
                                 const AttentionDropout& dropout);

// The arguments of Keras's attention layers with heads that come last in its configs.
template <class Options>
void projection_fields(Fields& f, Options& o) {
  f("kernel_initializer", o.kernel_initializer);
  f("bias_initializer", o.bias_initializer);
  f("kernel_regularizer", o.kernel_regularizer);
  f("bias_regularizer", o.bias_regularizer);
  f("activity_regularizer", o.activity_regularizer);
  f("kernel_constraint", o.kernel_constraint);
  f("bias_constraint", o.bias_constraint);
  f("seed", o.seed);
}

// A projection, as Keras's inner EinsumDense: the last `bound` axes of x to `made`.
template <class Options>
Tensor attention_project(Scope& s, std::string_view part, const Tensor& x, int bound, const Ints& made,
                         const Options& o) {
  const int free = x.rank() - bound;
  const std::string kept = letters('a', free);
  const std::string summed = letters('k', bound);
  const std::string added = letters('p', static_cast<int>(made.size()));
  Ints kernel_shape(x.shape().end() - bound, x.shape().end());
  kernel_shape.insert(kernel_shape.end(), made.begin(), made.end());
  Tensor y = einsum(kept + summed + "," + summed + added + "->" + kept + added, x,
                    s.weight(concat(part, "/kernel"), Shape(kernel_shape), o.kernel_initializer,
                             {.regularizer = o.kernel_regularizer, .constraint = o.kernel_constraint}),
                    s.layer().name());
  y = with_bias(s, y, Shape(made), o, concat(part, "/bias"));
  if (part.ends_with("gate_dense")) y = sigmoid(y);
  if (o.activity_regularizer) s.add_loss(o.activity_regularizer->loss(y) / static_cast<double>(y.dim(0)));
  return y;
}

}  // namespace plimsoll
