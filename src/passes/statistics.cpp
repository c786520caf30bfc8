// Mean and variance of what a batch normalisation reads are results of that normalisation: written beside it,
// as Keras does for its moving averages, they become those results.
#include <cmath>
#include <optional>
#include <vector>

#include "graph/op.h"
#include "passes/passes.h"
#include "passes/rewriter.h"
#include "passes/sums.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

const Node* made_by(const Graph& graph, ValueId v, std::string_view op) {
  const NodeId n = graph.value(v).producer;
  return graph.is(n, op) ? &graph.node(n) : nullptr;
}

// The x of a mean over all axes but the last: a sum divided by the count, or multiplied with one over it.
std::optional<ValueId> mean_of(const Graph& graph, const Node& node) {
  const bool divides = node.op->name == "divide";
  if (!divides && node.op->name != "multiply") return std::nullopt;
  const Node* total = made_by(graph, node.inputs[0], "reduce_sum");
  const Splat by = splat(graph, node.inputs[1]);
  if (!total || !by.known) return std::nullopt;
  const Shape& shape = graph.type(total->inputs[0]).shape;
  if (shape.rank() < 2 || shape.dim(-1) == 0 || !over_all_but_last(*total, shape.rank())) return std::nullopt;
  const double count = static_cast<double>(shape.elements() / shape.dim(-1));
  const bool right = std::abs((divides ? by.value : 1.0 / by.value) - count) < 1e-6 * count;
  return right ? std::optional(total->inputs[0]) : std::nullopt;
}

// The x of square(x - mean(x)).
std::optional<ValueId> squared_deviation_of(const Graph& graph, ValueId v) {
  const Node* square = made_by(graph, v, "square");
  const Node* deviation = square ? made_by(graph, square->inputs[0], "subtract") : nullptr;
  const NodeId mean = deviation ? graph.value(deviation->inputs[1]).producer : kNone;
  if (mean == kNone || mean_of(graph, graph.node(mean)) != std::optional(deviation->inputs[0]))
    return std::nullopt;
  return deviation->inputs[0];
}

class Statistics {
 public:
  explicit Statistics(Rewriter& r)
      : r_(r), graph_(r.old()), norm_of_(graph_.values().size(), kNone), put_(graph_.nodes().size()) {
    for (NodeId n = 0; n < graph_.nodes().size(); ++n) {
      if (!r.live(n) || !graph_.is(n, "batch_norm")) continue;
      norm_of_[graph_.node(n).inputs[0]] = n;
      found_ = true;
    }
  }
  bool empty() const { return !found_; }

  // Puts something else in the place of node `n`; false if it is to be copied.
  bool replace(NodeId n) {
    if (put_[n]) return true;
    const Node& node = graph_.node(n);
    const auto averaged = mean_of(graph_, node);
    if (!averaged) return false;
    if (put(node, *averaged, n, 1)) return true;
    const auto x = squared_deviation_of(graph_, *averaged);
    return x && put(node, *x, n, 2);
  }

 private:
  // The normalisation's result number `which` in the place of `node`. It moves up to here if all it needs is
  // there.
  bool put(const Node& node, ValueId x, NodeId here, size_t which) {
    const NodeId n = norm_of_[x];
    if (n == kNone) return false;
    const Node& norm = graph_.node(n);
    const ValueId statistic = norm.outputs[which];
    if (graph_.type(statistic).dtype != graph_.type(node.outputs[0]).dtype || !ready(norm, here))
      return false;
    if (!put_[n] && n > here) {
      const std::string layer = r_.graph().set_layer(norm.layer);
      r_.copy(n);
      r_.graph().set_layer(layer);
      put_[n] = true;
    }
    r_.set(here, std::vector<Tensor>{reshape(r_.tensor(statistic), graph_.type(node.outputs[0]).shape)});
    return true;
  }

  bool ready(const Node& norm, NodeId here) const {
    for (const ValueId v : norm.inputs) {
      const NodeId producer = graph_.value(v).producer;
      if (producer != kNone && producer >= here) return false;
    }
    return true;
  }

  Rewriter& r_;
  const Graph& graph_;
  std::vector<NodeId> norm_of_;  // by the value that is normalised
  std::vector<bool> put_;        // nodes that have moved up
  bool found_ = false;
};

}  // namespace

Graph pass_statistics(const Graph& graph) {
  Rewriter r(graph);
  Statistics statistics(r);
  if (statistics.empty()) return r.copy_all();
  for (NodeId n = 0; n < graph.nodes().size(); ++n) {
    if (!r.live(n)) continue;
    const std::string layer = r.graph().set_layer(graph.node(n).layer);
    if (!statistics.replace(n)) r.copy(n);
    r.graph().set_layer(layer);
  }
  return r.finish();
}

}  // namespace plimsoll
