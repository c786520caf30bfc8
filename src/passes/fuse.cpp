// Element-wise chains, and the reductions that read them, become one "fused" node that passes over memory
// once. A group has one iteration space; values of smaller shapes come in from outside and are broadcast as
// they are read.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "graph/capabilities.h"
#include "passes/clusters.h"
#include "passes/passes.h"
#include "passes/rewriter.h"

namespace plimsoll {
namespace {

constexpr int64_t kWorthSharing = 1024;  // elements of an input that make a joint pass over it pay

using Role = Capabilities::Fuse;

class Fuser {
 public:
  Fuser(const Graph& graph, const Capabilities& can)
      : graph_(graph),
        rewriter_(graph),
        limits_(can.limits()),
        roles_(find_roles(can)),
        clusters_(graph, live(), folds()) {}

  Graph run() {
    follow_edges();
    share_inputs();
    return rebuild();
  }

 private:
  size_t count() const { return graph_.nodes().size(); }
  std::vector<bool> live() const {
    std::vector<bool> out;
    for (NodeId n = 0; n < count(); ++n) out.push_back(rewriter_.live(n));
    return out;
  }
  std::vector<bool> folds() const {
    std::vector<bool> out;
    for (NodeId n = 0; n < count(); ++n) out.push_back(roles_[n] == Role::fold);
    return out;
  }

  std::vector<Role> find_roles(const Capabilities& can) const {
    std::vector<Role> roles(count(), Role::no);
    for (NodeId n = 0; n < count(); ++n) {
      if (!rewriter_.live(n) || !has_code(graph_.node(n))) continue;
      const NodeCall node(graph_, graph_.node(n));
      roles[n] = can.fuses(node.call(), node.out);
    }
    return roles;
  }

  const Shape& space(NodeId n) const {
    const Node& node = graph_.node(n);
    return roles_[n] == Role::fold ? graph_.type(node.inputs[0]).shape : graph_.type(node.outputs[0]).shape;
  }

  bool is_small_constant(ValueId v) const {
    return graph_.is(graph_.value(v).producer, "constant") && graph_.type(v).shape.elements() == 1;
  }

  // Whether the values that come into and go out of the cluster are few enough, were these its members.
  bool within_limits(const std::vector<NodeId>& a, const std::vector<NodeId>& b) const {
    std::set<NodeId> inside(a.begin(), a.end());
    inside.insert(b.begin(), b.end());
    std::set<ValueId> in;
    std::map<ValueId, int> uses;
    for (const NodeId n : inside) {
      for (const ValueId v : graph_.node(n).inputs) {
        ++uses[v];
        const NodeId p = graph_.value(v).producer;
        if ((p == kNone || !inside.contains(p)) && !is_small_constant(v)) in.insert(v);
      }
    }
    size_t out = 0;
    for (const NodeId n : inside) {
      const ValueId v = graph_.node(n).outputs[0];
      out += size_t{rewriter_.uses(v) != uses[v]};
    }
    return in.size() <= limits_.fused_inputs && in.size() + out <= limits_.fused_arguments;
  }

  void try_merge(NodeId a, NodeId b) {
    if (roles_[a] == Role::no || roles_[b] == Role::no || !(space(a) == space(b))) return;
    const auto& ma = clusters_.members(a);
    const auto& mb = clusters_.members(b);
    if (clusters_.of(a) == clusters_.of(b) || ma.size() + mb.size() > limits_.fused_nodes) return;
    if (!within_limits(ma, mb)) return;
    clusters_.merge(a, b);
  }

  void follow_edges() {
    for (NodeId n = 0; n < count(); ++n) {
      if (roles_[n] == Role::no) continue;
      for (const ValueId v : graph_.node(n).inputs) {
        const NodeId p = graph_.value(v).producer;
        if (p != kNone && roles_[p] == Role::map) try_merge(p, n);
      }
    }
  }

  void share_inputs() {
    std::unordered_map<ValueId, std::vector<NodeId>> readers;
    for (NodeId n = 0; n < count(); ++n) {
      if (roles_[n] == Role::no) continue;
      for (const ValueId v : graph_.node(n).inputs) {
        if (graph_.type(v).shape == space(n) && graph_.type(v).shape.elements() >= kWorthSharing)
          readers[v].push_back(n);
      }
    }
    for (NodeId n = 0; n < count(); ++n) {  // in running order, for the same result every time
      if (roles_[n] == Role::no) continue;
      for (const ValueId v : graph_.node(n).inputs) {
        const auto it = readers.find(v);
        if (it != readers.end() && it->second.front() != n) try_merge(it->second.front(), n);
      }
    }
  }

  void emit(NodeId cluster);
  Graph rebuild();

  const Graph& graph_;
  Rewriter rewriter_;
  Capabilities::Limits limits_;
  std::vector<Role> roles_;
  Clusters clusters_;
};

// Puts one "fused" node into the new graph, with the members as its body.
void Fuser::emit(NodeId cluster) {
  const std::vector<NodeId>& members = clusters_.members(cluster);
  const std::set<NodeId> inside(members.begin(), members.end());
  auto body = std::make_shared<Graph>();
  std::map<ValueId, ValueId> inner;
  std::vector<ValueId> arguments;
  for (const NodeId n : members) {
    for (const ValueId v : graph_.node(n).inputs) {
      const NodeId p = graph_.value(v).producer;
      if (inner.contains(v) || (p != kNone && inside.contains(p))) continue;
      if (is_small_constant(v)) {
        inner[v] = body->constant(graph_.node(p).attrs.tensor("value")).id();
      } else {
        inner[v] = body->add_input("", graph_.type(v));
        arguments.push_back(rewriter_.map(v));
      }
    }
    const Node& node = graph_.node(n);
    std::vector<ValueId> in;
    for (const ValueId v : node.inputs) in.push_back(inner[v]);
    const NodeId made = body->add_node(*node.op, in, node.attrs, node.layer);
    inner[node.outputs[0]] = body->node(made).outputs[0];
  }
  std::map<ValueId, int> inside_uses;
  for (const NodeId n : members) {
    for (const ValueId v : graph_.node(n).inputs) ++inside_uses[v];
  }
  std::vector<ValueId> results;
  for (const NodeId n : members) {
    const ValueId v = graph_.node(n).outputs[0];
    if (rewriter_.uses(v) == inside_uses[v]) continue;
    body->add_output("", inner[v]);
    results.push_back(v);
  }
  const std::string layer = graph_.node(members.back()).layer;
  const NodeId fused = rewriter_.graph().add_node(get_op("fused"), arguments,
                                                  {{"body", std::shared_ptr<const Graph>(body)}}, layer);
  for (size_t i = 0; i < results.size(); ++i)
    rewriter_.set(results[i], rewriter_.graph().node(fused).outputs[i]);
}

// Clusters in an order in which each comes after what it reads.
Graph Fuser::rebuild() {
  std::vector<uint8_t> state(count(), 0);  // of clusters: 1 open, 2 emitted
  std::vector<NodeId> stack;
  const auto emit_one = [&](NodeId c) {
    if (clusters_.members(c).size() > 1)
      emit(c);
    else
      rewriter_.copy(c);
  };
  for (NodeId start = 0; start < count(); ++start) {
    if (!rewriter_.live(start) || state[clusters_.of(start)] == 2) continue;
    stack.push_back(clusters_.of(start));
    while (!stack.empty()) {
      const NodeId c = stack.back();
      bool ready = true;
      if (state[c] == 2) {
        stack.pop_back();
        continue;
      }
      for (const NodeId n : clusters_.members(c)) {
        for (const ValueId v : graph_.node(n).inputs) {
          const NodeId p = graph_.value(v).producer;
          if (p == kNone || clusters_.of(p) == c || state[clusters_.of(p)] == 2) continue;
          stack.push_back(clusters_.of(p));
          ready = false;
        }
      }
      if (!ready) continue;
      emit_one(c);
      state[c] = 2;
      stack.pop_back();
    }
  }
  return rewriter_.finish();
}

}  // namespace

Graph pass_fuse(const Graph& graph, const Capabilities& can) {
  const Graph fused = Fuser(graph, can).run();
  return Rewriter(fused).copy_all();  // constants that went into bodies are dead outside
}

}  // namespace plimsoll
