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

struct AttentionHeads {
  Tensor query, key, value;  // (batch, positions..., heads, width)
};

struct AttentionInputs {
  const Tensor &query, &value;
  Tensor key_mask;  // undefined: none
};
// Where a query may look, broadcasting to (batch, queries, keys): the masks of query, value and key, a causal
// and a sliding one, and the call's "attention_mask". Undefined: everywhere.
Tensor attention_visible(Scope& s, const AttentionInputs& in, bool causal,
                         const std::optional<int64_t>& window);

struct AttentionDropout {
  double rate = 0;
  std::optional<int64_t> seed = {};
  std::string_view generator;
};
// Any axes, with scores: {result, scores}.
std::pair<Tensor, Tensor> attend_widely(Scope& s, const AttentionHeads& h, const Ints& axes, Tensor mask,
                                        double scale, const AttentionDropout& dropout);
// By the engine's own op: (batch, positions, heads, width).
Tensor attend(const AttentionHeads& h, const Tensor& mask, bool causal, double scale);

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
