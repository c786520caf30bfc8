// A ReLU behind a batch normalisation, with or without a residual added between, goes into the
// normalisation's own pass over its data, and the ReLU's part of the backward pass into that of the
// normalisation's gradient:
//   r = relu(batch_norm(x) [+ residual]),  dz = where(batch_norm(x) [+ residual] > 0, dr, 0),
//   batch_norm_grad(dz, ...)
// Nothing then reads the value before the ReLU: it is neither written nor kept for the backward pass.
#include <optional>
#include <unordered_map>

#include "graph/op.h"
#include "passes/passes.h"
#include "passes/rewriter.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

// One normalisation to rewrite. Ids are of the old graph.
struct Join {
  NodeId norm = kNone, sum = kNone, relu = kNone, positive = kNone, mask = kNone, gradient = kNone;
  ValueId residual = kNone;
};

class Norms {
 public:
  explicit Norms(Rewriter& r) : r_(r), graph_(r.old()), readers_(graph_.values().size()) {
    for (NodeId n = 0; n < graph_.nodes().size(); ++n) {
      if (!r.live(n)) continue;
      for (const ValueId v : graph_.node(n).inputs) readers_[v].push_back(n);
    }
    for (NodeId n = 0; n < graph_.nodes().size(); ++n) {
      if (r.live(n) && graph_.is(n, "batch_norm")) find(n);
    }
  }
  bool empty() const { return joins_.empty(); }

  // Puts something else in the place of node `n`; false if it is to be copied.
  bool replace(NodeId n) {
    const auto it = role_.find(n);
    if (it == role_.end()) return false;
    const Join& j = joins_[it->second];
    const Node& node = graph_.node(n);
    if (n == j.norm) {
      put_norm(j);
    } else if (n == j.relu) {
      r_.set(node.outputs[0], y_.at(j.norm).id());
    } else if (n == j.positive) {
      const Tensor& y = y_.at(j.norm);
      r_.set(node.outputs[0], greater(y, scalar_like(y, 0)).id());
    } else if (n == j.mask) {
      put_gradient(j);
    }
    return true;  // the sum and the old gradient are gone
  }

 private:
  // All that read `v`: a relu, and perhaps v > 0.
  bool only_relu(ValueId v, Join& j) const {
    if (readers_[v].empty() || readers_[v].size() > 2 || r_.uses(v) != static_cast<int>(readers_[v].size()))
      return false;
    for (const NodeId n : readers_[v]) {
      if (graph_.is(n, "relu") && j.relu == kNone) {
        j.relu = n;
      } else if (graph_.is(n, "greater") && graph_.node(n).inputs[0] == v &&
                 is_zero(graph_.node(n).inputs[1]) && j.positive == kNone) {
        j.positive = n;
      } else {
        return false;
      }
    }
    return j.relu != kNone;
  }
  bool is_zero(ValueId v) const {
    const Splat s = splat(graph_, v);
    return s.known && s.value == 0;
  }

  void find(NodeId n) {
    const Node& norm = graph_.node(n);
    if (norm.attrs.string("activation") != "linear" || norm.attrs.flag("residual")) return;
    const ValueId y = norm.outputs[0];
    Join j;
    j.norm = n;
    if (!only_relu(y, j)) {
      j = Join{};
      j.norm = n;
      if (readers_[y].size() != 1 || r_.uses(y) != 1 || !graph_.is(readers_[y][0], "add")) return;
      j.sum = readers_[y][0];
      const Node& sum = graph_.node(j.sum);
      j.residual = sum.inputs[0] == y ? sum.inputs[1] : sum.inputs[0];
      const NodeId producer = graph_.value(j.residual).producer;
      const bool ready = producer == kNone || producer < n;
      if (!ready || !(graph_.type(j.residual) == graph_.type(y)) || !only_relu(sum.outputs[0], j)) return;
    }
    if (j.positive != kNone && !find_gradient(j)) return;
    for (const NodeId member : {j.norm, j.sum, j.relu, j.positive, j.mask, j.gradient}) {
      if (member != kNone) role_[member] = joins_.size();
    }
    joins_.push_back(j);
  }

  // where(positive, dr, 0), and the normalisation's gradient that reads it. Without a residual nobody else
  // may.
  bool find_gradient(Join& j) const {
    const ValueId positive = graph_.node(j.positive).outputs[0];
    if (r_.uses(positive) != 1 || readers_[positive].size() != 1) return false;
    j.mask = readers_[positive][0];
    if (!graph_.is(j.mask, "where")) return false;
    const Node& mask = graph_.node(j.mask);
    const ValueId dz = mask.outputs[0];
    if (mask.inputs[0] != positive || !is_zero(mask.inputs[2]) ||
        !(graph_.type(mask.inputs[1]) == graph_.type(dz)))
      return false;
    const Node& norm = graph_.node(j.norm);
    for (const NodeId n : readers_[dz]) {
      if (!graph_.is(n, "batch_norm_grad") || graph_.node(n).inputs[0] != dz) continue;
      if (graph_.node(n).inputs[3] != norm.outputs[1] || graph_.node(n).inputs[4] != norm.outputs[2])
        continue;
      j.gradient = n;
    }
    return j.gradient != kNone && (j.residual != kNone || r_.uses(dz) == 1);
  }

  void put_norm(const Join& j) {
    const Node& norm = graph_.node(j.norm);
    std::vector<Tensor> in = r_.tensors(norm.inputs);
    if (j.residual != kNone) in.push_back(r_.tensor(j.residual));
    const std::vector<Tensor> out = plimsoll::apply(*norm.op, in, joined(norm.attrs, j));
    y_[j.norm] = out[0];
    r_.set(norm.outputs[1], out[1].id());
    r_.set(norm.outputs[2], out[2].id());
  }

  void put_gradient(const Join& j) {
    const Node& old = graph_.node(j.gradient);
    std::vector<Tensor> in = r_.tensors(std::span(old.inputs).subspan(1));
    in.insert(in.begin(), r_.tensor(graph_.node(j.mask).inputs[1]));
    in.push_back(y_.at(j.norm));
    if (j.residual == kNone) in.push_back(r_.tensor(graph_.node(j.norm).inputs[2]));
    const std::vector<Tensor> out = plimsoll::apply(*old.op, in, joined(old.attrs, j));
    for (size_t i = 0; i < 3; ++i) r_.set(old.outputs[i], out[i].id());
    if (j.residual != kNone) r_.set(graph_.node(j.mask).outputs[0], out[3].id());
  }

  static Attrs joined(Attrs attrs, const Join& j) {
    attrs.set("activation", std::string("relu"));
    attrs.set("residual", j.residual != kNone);
    return attrs;
  }

  Rewriter& r_;
  const Graph& graph_;
  std::vector<std::vector<NodeId>> readers_;
  std::vector<Join> joins_;
  std::unordered_map<NodeId, size_t> role_;  // node -> the join it belongs to
  std::unordered_map<NodeId, Tensor> y_;     // of normalisations already put
};

}  // namespace

Graph pass_norm(const Graph& graph) {
  Rewriter r(graph);
  Norms norms(r);
  if (norms.empty()) return r.copy_all();
  for (NodeId n = 0; n < graph.nodes().size(); ++n) {
    if (!r.live(n)) continue;
    const std::string layer = r.graph().set_layer(graph.node(n).layer);
    if (!norms.replace(n)) r.copy(n);
    r.graph().set_layer(layer);
  }
  return r.finish();
}

}  // namespace plimsoll
