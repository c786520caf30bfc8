// The gradient of a bias behind a convolution is the sum of dy over all axes but the last, and the gradient
// of the convolution's kernel reads all of dy: it makes that sum on the way (`bias` of conv_grad_filter).
#include <vector>

#include "graph/op.h"
#include "passes/passes.h"
#include "passes/rewriter.h"
#include "passes/sums.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

class Biases {
 public:
  explicit Biases(Rewriter& r) : r_(r), graph_(r.old()), filter_of_(graph_.values().size(), kNone) {
    std::vector<bool> summed(graph_.values().size());
    for (NodeId n = 0; n < graph_.nodes().size(); ++n) {
      if (r.live(n) && is_sum(n)) summed[graph_.node(n).inputs[0]] = true;
    }
    for (NodeId n = 0; n < graph_.nodes().size(); ++n) {
      if (!r.live(n) || !graph_.is(n, "conv_grad_filter") || graph_.node(n).attrs.flag("bias")) continue;
      const ValueId dy = graph_.node(n).inputs[1];
      if (summed[dy] && filter_of_[dy] == kNone) filter_of_[dy] = n;
    }
    put_.resize(graph_.nodes().size());
  }

  // Puts something else in the place of node `n`; false if it is to be copied.
  bool replace(NodeId n) {
    const Node& node = graph_.node(n);
    if (is_sum(n)) {
      const NodeId filter = filter_of_[node.inputs[0]];
      if (filter == kNone || !put(filter, n)) return false;
      r_.set(n, std::vector<Tensor>{reshape(put_[filter], graph_.type(node.outputs[0]).shape)});
      return true;
    }
    return graph_.is(n, "conv_grad_filter") && filter_of_[node.inputs[1]] == n && put(n, n);
  }

 private:
  bool is_sum(NodeId n) const {
    if (!graph_.is(n, "reduce_sum")) return false;
    const Node& node = graph_.node(n);
    return over_all_but_last(node, graph_.type(node.inputs[0]).shape.rank());
  }

  // The gradient of the kernel, with the sum, at the place of node `here` if its operands are there by then.
  bool put(NodeId filter, NodeId here) {
    if (put_[filter].defined()) return true;
    const Node& node = graph_.node(filter);
    for (const ValueId v : node.inputs) {
      const NodeId producer = graph_.value(v).producer;
      if (producer != kNone && producer >= here) return false;
    }
    Attrs attrs = node.attrs;
    attrs.set("bias", true);
    const std::string layer = r_.graph().set_layer(node.layer);
    const std::vector<Tensor> out = plimsoll::apply(*node.op, r_.tensors(node.inputs), std::move(attrs));
    r_.graph().set_layer(layer);
    r_.set(node.outputs[0], out[0].id());
    put_[filter] = out[1];
    return true;
  }

  Rewriter& r_;
  const Graph& graph_;
  std::vector<NodeId> filter_of_;  // by dy, where somebody sums dy
  std::vector<Tensor> put_;        // by node: the sum, once the gradient is in the new graph
};

}  // namespace

Graph pass_bias(const Graph& graph) {
  Rewriter r(graph);
  Biases biases(r);
  for (NodeId n = 0; n < graph.nodes().size(); ++n) {
    if (!r.live(n)) continue;
    const std::string layer = r.graph().set_layer(graph.node(n).layer);
    if (!biases.replace(n)) r.copy(n);
    r.graph().set_layer(layer);
  }
  return r.finish();
}

}  // namespace plimsoll
