#include <algorithm>
#include <array>

#include "graph/op.h"
#include "passes/match.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

constexpr std::array<std::string_view, 5> kActivations = {"relu", "sigmoid", "tanh", "gelu", "silu"};

bool is_activation(const Node& node) {
  return std::find(kActivations.begin(), kActivations.end(), node.op->name) != kActivations.end();
}

// x (..., k) times kernel (k, n).
bool is_plain_product(const Match& m, const Node& dot) {
  const int rank = m.type(dot.inputs[0]).shape.rank();
  return m.type(dot.inputs[1]).shape.rank() == 2 && rank >= 2 && dot.attrs.ints("a_batch").empty() &&
         dot.attrs.ints("a_contract") == Ints{rank - 1} && dot.attrs.ints("b_contract") == Ints{0};
}

// A bias along the last axis: (n) or (1, ..., n).
bool is_bias(const Match& m, ValueId v, const TensorType& result) {
  const TensorType& t = m.type(v);
  return t.dtype == result.dtype && t.shape.rank() >= 1 && t.shape.elements() == t.shape.dim(-1) &&
         t.shape.dim(-1) == result.shape.dim(-1);
}

Tensor flat_bias(Match& m, ValueId v) {
  const Tensor b = m.tensor(v);
  return b.rank() == 1 ? b : reshape(b, Shape{b.shape().elements()});
}

// The inputs and attributes of a linear node of a library op, with this activation.
Tensor with_activation(Match& m, const Node& linear, std::string_view activation) {
  Attrs attrs = linear.attrs;
  attrs.set("activation", std::string(activation));
  return apply(*linear.op, m.rewriter().tensors(linear.inputs), attrs)[0];
}

Tensor join_activation(Match& m, const Node& node, std::string_view op) {
  if (!is_activation(node)) return {};
  const Node* linear = m.only_made_by(node.inputs[0], op);
  if (!linear || linear->attrs.string("activation") != "linear") return {};
  const bool approximate = node.op->name == "gelu" && node.attrs.find("approximate") && node.attrs.flag("approximate");
  return with_activation(m, *linear, approximate ? "gelu_tanh" : node.op->name);
}

}  // namespace

Tensor match_dense(Match& m, const Node& node) {
  if (node.op->name != "add") return join_activation(m, node, "dense");
  const auto operands = m.one_made_by(node, "dot_general");
  const TensorType& out = m.type(node.outputs[0]);
  if (!operands || !is_plain_product(m, *operands->node) || !is_bias(m, operands->other, out)) return {};
  if (!(m.type(operands->node->outputs[0]) == out)) return {};
  return m.call("dense", {m.tensor(operands->node->inputs[0]), m.tensor(operands->node->inputs[1]),
                          flat_bias(m, operands->other)});
}

Tensor match_conv_bias(Match& m, const Node& node) {
  if (node.op->name != "add") return join_activation(m, node, "conv_bias");
  const auto operands = m.one_made_by(node, "conv");
  const TensorType& out = m.type(node.outputs[0]);
  if (!operands || !is_bias(m, operands->other, out) || !(m.type(operands->node->outputs[0]) == out)) return {};
  return m.call("conv_bias", {m.tensor(operands->node->inputs[0]), m.tensor(operands->node->inputs[1]),
                              flat_bias(m, operands->other)}, operands->node->attrs);
}

}  // namespace plimsoll
