#include "graph/op.h"
#include "passes/match.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"

namespace plimsoll {

// A table of embeddings has far more rows than a batch looks up: the update by rows never makes the dense
// gradient.
std::vector<Tensor> match_table_update(Match& m, const Node& node) {
  if (node.op->name != "adam_update") return {};
  const Node* grad = m.only_made_by(node.inputs[1], "embedding_grad");
  const OpDef* by_rows = find_op("adam_update_rows");
  if (!grad || !by_rows) return {};
  std::vector<Tensor> in = {m.tensor(node.inputs[0]), m.tensor(grad->inputs[0]), m.tensor(grad->inputs[1])};
  for (size_t i = 2; i < node.inputs.size(); ++i) in.push_back(m.tensor(node.inputs[i]));
  return apply(*by_rows, in, node.attrs);
}

// Sums of float16 in float32 are finite if and only if what they add up is: no table need be made to ask it.
Tensor match_finite_rows(Match& m, const Node& node) {
  if (node.op->name != "reduce_and" || m.type(node.outputs[0]).shape.rank() != 0) return {};
  const Node* finite = m.only_made_by(node.inputs[0], "isfinite");
  const Node* table = finite ? m.made_by(finite->inputs[0], "embedding_grad") : nullptr;
  const Node* rows = table ? m.made_by(table->inputs[1], "cast") : nullptr;
  if (!rows || m.type(rows->inputs[0]).dtype != DType::f16 || m.type(finite->inputs[0]).dtype == DType::f16)
    return {};
  return all(isfinite(m.tensor(rows->inputs[0])));
}

}  // namespace plimsoll
