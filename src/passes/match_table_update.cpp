#include "graph/op.h"
#include "passes/match.h"

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

}  // namespace plimsoll
