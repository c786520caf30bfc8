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

// x (..., k) times kernel (k, n...).
bool is_plain_product(const Match& m, const Node& dot) {
  const int rank = m.type(dot.inputs[0]).shape.rank();
  return m.type(dot.inputs[1]).shape.rank() >= 2 && rank >= 2 && dot.attrs.ints("a_batch").empty() &&
         dot.attrs.ints("a_contract") == Ints{rank - 1} && dot.attrs.ints("b_contract") == Ints{0};
}

// A bias along all axes that the kernel (k, n...) adds: (n...) or (1, ..., n...).
bool is_bias_of(const Match& m, ValueId v, const TensorType& kernel) {
  const TensorType& t = m.type(v);
  const int own = kernel.shape.rank() - 1, lead = t.shape.rank() - own;
  if (t.dtype != kernel.dtype || lead < 0) return false;
  for (int i = 0; i < lead; ++i) {
    if (t.shape[i] != 1) return false;
  }
  for (int i = 0; i < own; ++i) {
    if (t.shape[lead + i] != kernel.shape[1 + i]) return false;
  }
  return true;
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
  const bool approximate =
      node.op->name == "gelu" && node.attrs.find("approximate") && node.attrs.flag("approximate");
  return with_activation(m, *linear, approximate ? "gelu_tanh" : node.op->name);
}

}  // namespace

Tensor match_dense(Match& m, const Node& node) {
  if (node.op->name != "add") return join_activation(m, node, "dense");
  const auto operands = m.one_made_by(node, "dot_general");
  const TensorType& out = m.type(node.outputs[0]);
  if (!operands || !is_plain_product(m, *operands->node)) return {};
  const TensorType& kernel_type = m.type(operands->node->inputs[1]);
  if (!is_bias_of(m, operands->other, kernel_type) || !(m.type(operands->node->outputs[0]) == out)) return {};
  const Tensor x = m.tensor(operands->node->inputs[0]), bias = flat_bias(m, operands->other);
  Tensor kernel = m.tensor(operands->node->inputs[1]);
  // Heads of attention: (k, heads, width) is (k, n) to dense.
  if (kernel.rank() > 2) kernel = reshape(kernel, Shape{kernel.dim(0), bias.dim(0)});
  const Tensor y = m.call("dense", {x, kernel, bias});
  return y.defined() && y.shape() != out.shape ? reshape(y, out.shape) : y;
}

namespace {

bool is_linear(const Node& conv) {
  return conv.attrs.string("activation") == "linear" && !conv.attrs.flag("residual");
}

// conv * scale + shift, or (conv + bias) * scale + shift: an inference-time batch normalisation.
Tensor join_scale(Match& m, const Node& add) {
  const auto product = m.one_made_by(add, "multiply");
  const TensorType& out = m.type(add.outputs[0]);
  if (!product || !is_bias(m, product->other, out)) return {};
  auto scaled = m.one_made_by(*product->node, "conv");
  const bool plain = scaled.has_value();
  if (!plain) scaled = m.one_made_by(*product->node, "conv_bias");
  if (!scaled || !is_bias(m, scaled->other, out) || !(m.type(scaled->node->outputs[0]) == out)) return {};
  if (!plain && (!is_linear(*scaled->node) || scaled->node->attrs.flag("scale"))) return {};
  const Tensor scale = flat_bias(m, scaled->other);
  Tensor shift = flat_bias(m, product->other);
  if (!plain) shift = m.tensor(scaled->node->inputs[2]) * scale + shift;
  Attrs attrs = scaled->node->attrs;
  attrs.set("scale", true);
  return m.call("conv_bias",
                {m.tensor(scaled->node->inputs[0]), m.tensor(scaled->node->inputs[1]), shift, scale}, attrs);
}

// conv_bias + something of its own shape.
Tensor join_residual(Match& m, const Node& add) {
  const auto operands = m.one_made_by(add, "conv_bias");
  if (!operands || !is_linear(*operands->node) || !(m.type(operands->other) == m.type(add.outputs[0])) ||
      !(m.type(operands->node->outputs[0]) == m.type(add.outputs[0]))) {
    return {};
  }
  Attrs attrs = operands->node->attrs;
  attrs.set("residual", true);
  std::vector<Tensor> in = m.rewriter().tensors(operands->node->inputs);
  in.push_back(m.tensor(operands->other));
  return plimsoll::apply(*operands->node->op, in, attrs)[0];
}

}  // namespace

Tensor match_conv_bias(Match& m, const Node& node) {
  if (node.op->name != "add") return join_activation(m, node, "conv_bias");
  const auto operands = m.one_made_by(node, "conv");
  const TensorType& out = m.type(node.outputs[0]);
  if (operands && is_bias(m, operands->other, out) && m.type(operands->node->outputs[0]) == out) {
    return m.call("conv_bias",
                  {m.tensor(operands->node->inputs[0]), m.tensor(operands->node->inputs[1]),
                   flat_bias(m, operands->other)},
                  operands->node->attrs);
  }
  const Tensor scaled = join_scale(m, node);
  return scaled.defined() ? scaled : join_residual(m, node);
}

}  // namespace plimsoll
