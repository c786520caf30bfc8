// On a device that joins small nodes, a GPU, what stands behind a convolution is a pass of its own. It is a
// shorter one on the other side of a max pooling, which is monotone, as no window lies outside of x:
//   max_pool(relu(x + bias))  ->  relu(max_pool(x) + bias)
// and so is the sum for the gradient of the bias, as the pooling's gradient only spreads what it is given:
//   sum(max_pool_grad(dy, index))  ->  sum(dy)
// which then joins the chain that makes dy.
#include <optional>
#include <vector>

#include "graph/capabilities.h"
#include "graph/op.h"
#include "passes/passes.h"
#include "passes/rewriter.h"
#include "passes/sums.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

class Pools {
 public:
  explicit Pools(Rewriter& r) : r_(r), graph_(r.old()) {}

  // Puts something else in the place of node `n`; false if it is to be copied.
  bool replace(NodeId n) {
    const Node& node = graph_.node(n);
    if (graph_.is(n, "max_pool")) return pool_first(node);
    if (graph_.is(n, "conv_grad_filter") && node.attrs.flag("bias")) return split(node);
    if (!graph_.is(n, "reduce_sum") || !over_all_but_last(node, graph_.type(node.inputs[0]).shape.rank()))
      return false;
    const std::optional<Tensor> dy = spread(node.inputs[0]);
    if (dy) r_.set(node.outputs[0], apply1(*node.op, {*dy}, node.attrs).id());
    return dy.has_value();
  }

 private:
  // Of a sum with a bias along the last axis: the other operand.
  std::optional<ValueId> biased(const Node& add) const {
    const TensorType& out = graph_.type(add.outputs[0]);
    for (const size_t i : {size_t{0}, size_t{1}}) {
      const Shape& bias = graph_.type(add.inputs[i]).shape;
      const bool last = bias.rank() >= 1 && bias.elements() == bias.dim(-1);
      if (last && bias.dim(-1) == out.shape.dim(-1) && graph_.type(add.inputs[1 - i]) == out)
        return add.inputs[1 - i];
    }
    return std::nullopt;
  }

  bool pool_first(const Node& pool) {
    std::vector<const Node*> behind;  // the last one first
    ValueId x = pool.inputs[0];
    while (r_.uses(x) == 1 && graph_.value(x).producer != kNone) {
      const Node& node = graph_.node(graph_.value(x).producer);
      const std::optional<ValueId> from = node.op->name == "relu"  ? node.inputs[0]
                                          : node.op->name == "add" ? biased(node)
                                                                   : std::nullopt;
      if (!from) break;
      behind.push_back(&node);
      x = *from;
    }
    if (behind.empty()) return false;
    const std::vector<Tensor> made = plimsoll::apply(*pool.op, std::vector<Tensor>{r_.tensor(x)}, pool.attrs);
    Tensor y = made[0];
    for (size_t i = behind.size(); i-- > 0;) {
      const Node& node = *behind[i];
      const ValueId inside = i + 1 < behind.size() ? behind[i + 1]->outputs[0] : x;
      if (node.op->name == "relu")
        y = relu(y);
      else
        y = y + r_.tensor(node.inputs[0] == inside ? node.inputs[1] : node.inputs[0]);
    }
    r_.set(pool.outputs[0], y.id());
    if (made.size() > 1) r_.set(pool.outputs[1], made[1].id());
    return true;
  }

  // What the gradient of a max pooling has spread to make `v`.
  std::optional<Tensor> spread(ValueId v) {
    const NodeId producer = graph_.value(v).producer;
    if (!graph_.is(producer, "max_pool_grad")) return std::nullopt;
    return r_.tensor(graph_.node(producer).inputs[0]);
  }

  bool split(const Node& filter) {
    Attrs attrs = filter.attrs;
    attrs.set("bias", false);
    r_.set(filter.outputs[0],
           plimsoll::apply(*filter.op, r_.tensors(filter.inputs), std::move(attrs))[0].id());
    const ValueId dy = filter.inputs[1];
    Ints axes;
    for (int64_t a = 0; a + 1 < graph_.type(dy).shape.rank(); ++a) axes.push_back(a);
    r_.set(filter.outputs[1], sum(spread(dy).value_or(r_.tensor(dy)), axes).id());
    return true;
  }

  Rewriter& r_;
  const Graph& graph_;
};

}  // namespace

Graph pass_pool(const Graph& graph, const Capabilities& can) {
  Rewriter r(graph);
  if (!can.limits().joins) return r.copy_all();
  Pools pools(r);
  for (NodeId n = 0; n < graph.nodes().size(); ++n) {
    if (!r.live(n)) continue;
    const std::string layer = r.graph().set_layer(graph.node(n).layer);
    if (!pools.replace(n)) r.copy(n);
    r.graph().set_layer(layer);
  }
  // Without what stood before the pooling.
  return Rewriter(r.finish()).copy_all();
}

}  // namespace plimsoll
