#include "graph/op.h"
#include "passes/match.h"

namespace plimsoll {
namespace {

bool over_last_axis(const Node& reduce, int rank) {
  const Ints& axes = reduce.attrs.ints("axes");
  return axes.size() == 1 && (axes[0] == rank - 1 || axes[0] == -1) && !reduce.attrs.flag("keepdims");
}

Tensor match_log_of_softmax(Match& m, const Node& node) {
  const Node* s = m.only_made_by(node.inputs[0], "softmax");
  return s ? m.call("log_softmax", {m.tensor(s->inputs[0])}, s->attrs) : Tensor();
}

}  // namespace

Tensor match_cross_entropy(Match& m, const Node& node) {
  if (node.op->name == "log") return match_log_of_softmax(m, node);
  if (node.op->name != "negative") return {};
  const Node* total = m.only_made_by(node.inputs[0], "reduce_sum");
  const Node* product = total ? m.only_made_by(total->inputs[0], "multiply") : nullptr;
  const auto operands = product ? m.one_made_by(*product, "log_softmax") : std::nullopt;
  if (!operands) return {};
  const TensorType& logits = m.type(operands->node->inputs[0]);
  const int64_t axis = operands->node->attrs.integer("axis");
  if (axis != -1 && axis != logits.shape.rank() - 1) return {};
  if (!over_last_axis(*total, logits.shape.rank()) || !(m.type(operands->other) == logits)) return {};
  return m.call("softmax_cross_entropy", {m.tensor(operands->node->inputs[0]), m.tensor(operands->other)});
}

}  // namespace plimsoll
