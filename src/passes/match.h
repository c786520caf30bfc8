// What the matchers of pass_match share: looking back from a node through values that nobody else reads.
#pragma once

#include <optional>
#include <string_view>

#include "passes/rewriter.h"

namespace plimsoll {

class Match {
 public:
  explicit Match(Rewriter& r) : r_(r) {}

  Rewriter& rewriter() { return r_; }
  const Graph& graph() const { return r_.old(); }
  const TensorType& type(ValueId v) const { return graph().type(v); }
  Tensor tensor(ValueId v) { return r_.tensor(v); }

  // The node that makes `v`, if it is of this op.
  const Node* made_by(ValueId v, std::string_view op) const;
  // The same, if nobody else reads `v`: a matcher may swallow it.
  const Node* only_made_by(ValueId v, std::string_view op) const;
  // For a commutative node: the operands such that the first is made only by `op`; empty if neither is.
  struct Operands {
    const Node* node;
    ValueId other;
  };
  std::optional<Operands> one_made_by(const Node& node, std::string_view op) const;
  // The first output of a library op on these inputs; undefined if this build has no such op.
  Tensor call(std::string_view op, std::initializer_list<Tensor> in, Attrs attrs = {});
  // The number all elements of `v` have.
  std::optional<double> number(ValueId v) const;

 private:
  Rewriter& r_;
};

// A matcher looks at one node of one output and returns what takes its place, or an undefined tensor.

Tensor match_dense(Match& m, const Node& node);          // dot_general + bias, then an activation
Tensor match_conv_bias(Match& m, const Node& node);      // conv + bias, then an activation
Tensor match_cross_entropy(Match& m, const Node& node);  // log(softmax), -sum(t * log_softmax)
Tensor match_layer_norm(Match& m, const Node& node);   // (x - mean) / sqrt(variance + epsilon) * gamma + beta
Tensor match_attention(Match& m, const Node& node);    // softmax(q k^T * scale) v
Tensor match_finite_rows(Match& m, const Node& node);  // whether the gradient of an embedding is finite
// For nodes of any number of outputs: one tensor for each, or none at all.
std::vector<Tensor> match_half_gradient(Match& m, const Node& node);  // an update by a gradient of halves
std::vector<Tensor> match_table_update(Match& m, const Node& node);   // Adam on the gradient of an embedding

}  // namespace plimsoll
