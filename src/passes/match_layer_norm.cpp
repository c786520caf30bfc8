#include <cmath>

#include "graph/op.h"
#include "passes/match.h"

namespace plimsoll {
namespace {

// The x of mean(x) over the last axis, kept as size 1: a sum divided by, or multiplied with one over, the
// length.
std::optional<ValueId> mean_of(const Match& m, ValueId v) {
  const NodeId p = m.graph().value(v).producer;
  if (p == kNone) return std::nullopt;
  const Node& node = m.graph().node(p);
  const bool divides = node.op->name == "divide";
  if (!divides && node.op->name != "multiply") return std::nullopt;
  const Node* total = m.made_by(node.inputs[0], "reduce_sum");
  const auto factor = m.number(node.inputs[1]);
  if (!total || !factor) return std::nullopt;
  const Shape& shape = m.type(total->inputs[0]).shape;
  const Ints& axes = total->attrs.ints("axes");
  const double n = static_cast<double>(shape.rank() ? shape.dim(-1) : 1);
  const bool right = axes.size() == 1 && (axes[0] == shape.rank() - 1 || axes[0] == -1) &&
                     total->attrs.flag("keepdims") &&
                     std::abs((divides ? *factor : 1.0 / *factor) - n) < 1e-6 * n;
  return right ? std::optional(total->inputs[0]) : std::nullopt;
}

bool is_row(const Match& m, ValueId v, const TensorType& like) {
  const TensorType& t = m.type(v);
  return t.dtype == like.dtype && t.shape.rank() == 1 && t.shape[0] == like.shape.dim(-1);
}

bool is_square_of(const Match& m, ValueId v, ValueId d) {
  if (const Node* s = m.made_by(v, "square")) return s->inputs[0] == d;
  const Node* s = m.made_by(v, "multiply");
  return s && s->inputs[0] == d && s->inputs[1] == d;
}

struct Normalised {
  ValueId x;
  double epsilon;
};

// d * rsqrt(mean(d^2) + epsilon) with d = x - mean(x).
std::optional<Normalised> normalised(const Match& m, const Node& product) {
  const auto operands = m.one_made_by(product, "rsqrt");
  if (!operands) return std::nullopt;
  const Node* shifted = m.made_by(operands->node->inputs[0], "add");
  const Node* d = m.made_by(operands->other, "subtract");
  const auto epsilon = shifted ? m.number(shifted->inputs[1]) : std::nullopt;
  if (!d || !epsilon) return std::nullopt;
  const auto squares = mean_of(m, shifted->inputs[0]);
  const auto centre = mean_of(m, d->inputs[1]);
  if (!squares || !centre || *centre != d->inputs[0] || !is_square_of(m, *squares, operands->other))
    return std::nullopt;
  return Normalised{d->inputs[0], *epsilon};
}

}  // namespace

Tensor match_layer_norm(Match& m, const Node& node) {
  if (node.op->name != "add") return {};
  const TensorType& out = m.type(node.outputs[0]);
  const auto sum = m.one_made_by(node, "multiply");
  if (!sum || out.shape.rank() == 0 || !is_row(m, sum->other, out)) return {};
  const auto scaled = m.one_made_by(*sum->node, "multiply");
  if (!scaled || !is_row(m, scaled->other, out)) return {};
  const auto n = normalised(m, *scaled->node);
  if (!n || !(m.type(n->x) == out)) return {};
  return m.call("layer_norm", {m.tensor(n->x), m.tensor(scaled->other), m.tensor(sum->other)},
                {{"epsilon", n->epsilon}});
}

}  // namespace plimsoll
