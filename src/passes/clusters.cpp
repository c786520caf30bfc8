#include "passes/clusters.h"

#include <algorithm>

namespace plimsoll {

Clusters::Clusters(const Graph& graph, const std::vector<bool>& live, std::vector<bool> ends)
    : readers_(graph.nodes().size()),
      ends_(std::move(ends)),
      parent_(graph.nodes().size()),
      members_(graph.nodes().size()),
      seen_(graph.nodes().size(), 0) {
  for (NodeId n = 0; n < graph.nodes().size(); ++n) {
    parent_[n] = n;
    members_[n] = {n};
    if (!live[n]) continue;
    for (const ValueId v : graph.node(n).inputs) {
      const NodeId p = graph.value(v).producer;
      if (p != kNone) readers_[p].push_back(n);
    }
  }
}

NodeId Clusters::of(NodeId node) const {
  while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
  return node;
}

// The node from which on nothing leads back to `last` or before it. Nodes stand in running order, but a
// cluster entered by a late member is left by an early one too, so each that reaches across pushes the
// horizon on.
NodeId Clusters::horizon(NodeId last) const {
  for (bool grew = true; grew;) {
    grew = false;
    for (const NodeId c : wide_) {
      if (members_[c].front() > last || members_[c].back() <= last) continue;
      last = members_[c].back();
      grew = true;
    }
  }
  return last;
}

// Whether, were a and b one cluster, a path would leave it and come back.
bool Clusters::returns(NodeId a, NodeId b) const {
  ++round_;
  const NodeId last = horizon(std::max(members_[a].back(), members_[b].back()));
  std::vector<NodeId> open;
  bool back = false;
  const auto follow = [&](NodeId node, bool from_inside) {
    for (const NodeId reader : readers_[node]) {
      const NodeId c = of(reader);
      if (c == a || c == b) {
        back = back || !from_inside || ends_[node];
      } else if (seen_[c] != round_) {
        seen_[c] = round_;
        open.push_back(c);
      }
    }
  };
  for (const NodeId n : members_[a]) follow(n, true);
  for (const NodeId n : members_[b]) follow(n, true);
  while (!open.empty() && !back) {
    const NodeId c = open.back();
    open.pop_back();
    // A cluster runs as a whole: whatever reads any of its members comes after it.
    if (members_[c].front() > last) continue;
    for (const NodeId n : members_[c]) follow(n, false);
  }
  return back;
}

bool Clusters::merge(NodeId a, NodeId b) {
  a = of(a);
  b = of(b);
  if (a == b) return true;
  if (returns(a, b)) return false;
  parent_[b] = a;
  std::vector<NodeId> both;
  both.reserve(members_[a].size() + members_[b].size());
  std::merge(members_[a].begin(), members_[a].end(), members_[b].begin(), members_[b].end(),
             std::back_inserter(both));
  if (members_[a].size() == 1) wide_.push_back(a);
  std::erase(wide_, b);
  members_[a] = std::move(both);
  members_[b].clear();
  return true;
}

}  // namespace plimsoll
