// Clusters: groups of nodes of one graph that can run as one node. Two clusters may merge as long as no path
// leaves the merged cluster and comes back into it.
#pragma once

#include <cstdint>
#include <vector>

#include "plimsoll/graph.h"

namespace plimsoll {

class Clusters {
 public:
  // At first every node is a cluster of its own. `ends[n]`: what reads node n must be outside its cluster (a
  // reduction, whose result is complete only when the cluster has run).
  Clusters(const Graph& graph, const std::vector<bool>& live, std::vector<bool> ends);

  // The node that stands for the cluster of `node`.
  NodeId of(NodeId node) const;
  const std::vector<NodeId>& members(NodeId node) const { return members_[of(node)]; }
  // Merges the two if the result can still be run as one node; false if not.
  bool merge(NodeId a, NodeId b);

 private:
  bool returns(NodeId a, NodeId b) const;
  NodeId horizon(NodeId last) const;

  std::vector<std::vector<NodeId>> readers_;  // nodes that read the outputs of a node
  std::vector<bool> ends_;
  mutable std::vector<NodeId> parent_;
  std::vector<std::vector<NodeId>> members_;
  std::vector<NodeId> wide_;  // stand for clusters of several nodes
  mutable std::vector<uint32_t> seen_;
  mutable uint32_t round_ = 0;
};

}  // namespace plimsoll
