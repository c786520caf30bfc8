#include <array>
#include <string_view>

#include "graph/op.h"
#include "passes/match.h"

namespace plimsoll {
namespace {

// Which input of an update is the gradient; -1: the node is none.
int gradient_of(const Node& node) {
  if (node.op->name == "adam_update_rows") return 2;
  constexpr std::array<std::string_view, 3> kUpdates = {"adam_update", "sgd_update", "rmsprop_update"};
  for (const std::string_view name : kUpdates) {
    if (node.op->name == name) return 1;
  }
  return -1;
}

}  // namespace

// The update widens the gradient as it reads it: the wide one need not be in memory.
std::vector<Tensor> match_half_gradient(Match& m, const Node& node) {
  const int i = gradient_of(node);
  if (i < 0) return {};
  const ValueId gradient = node.inputs[static_cast<size_t>(i)];
  const Node* cast = m.only_made_by(gradient, "cast");
  if (!cast || m.type(gradient).dtype != DType::f32) return {};
  const DType from = m.type(cast->inputs[0]).dtype;
  if (from != DType::f16 && from != DType::bf16) return {};
  std::vector<Tensor> in = m.rewriter().tensors(node.inputs);
  in[static_cast<size_t>(i)] = m.tensor(cast->inputs[0]);
  return apply(*node.op, in, node.attrs);
}

}  // namespace plimsoll
