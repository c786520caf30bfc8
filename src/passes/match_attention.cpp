#include "graph/op.h"
#include "passes/match.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

bool contracts(const Node& dot, const Ints& a_batch, const Ints& b_batch, int64_t a, int64_t b) {
  return dot.attrs.ints("a_batch") == a_batch && dot.attrs.ints("b_batch") == b_batch &&
         dot.attrs.ints("a_contract") == Ints{a} && dot.attrs.ints("b_contract") == Ints{b};
}

}  // namespace

// The form that einsum gives for (batch, time, heads, width): scores (batch, heads, query, key), then the
// weighted values (batch, heads, query, width).
Tensor match_attention(Match& m, const Node& node) {
  if (node.op->name != "dot_general" || !contracts(node, {0, 1}, {0, 2}, 3, 1)) return {};
  const Node* weights = m.only_made_by(node.inputs[0], "softmax");
  if (!weights || (weights->attrs.integer("axis") != -1 && weights->attrs.integer("axis") != 3)) return {};
  double scale = 1.0;
  ValueId scores = weights->inputs[0];
  if (const Node* scaled = m.only_made_by(scores, "multiply")) {
    const auto factor = m.number(scaled->inputs[1]);
    if (!factor) return {};
    scale = *factor;
    scores = scaled->inputs[0];
  }
  const Node* product = m.only_made_by(scores, "dot_general");
  if (!product || !contracts(*product, {0, 2}, {0, 2}, 3, 3)) return {};
  const Tensor out = m.call(
      "attention", {m.tensor(product->inputs[0]), m.tensor(product->inputs[1]), m.tensor(node.inputs[1])},
      {{"scale", scale}});
  return out.defined() ? transpose(out, {0, 2, 1, 3}) : Tensor();
}

}  // namespace plimsoll
