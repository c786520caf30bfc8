// Rewriter: copies a graph node by node into a new one, for passes that put something else in the place of
// some nodes. Only what outputs and updates need is copied, so every pass removes dead code.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "plimsoll/graph.h"

namespace plimsoll {

class Rewriter {
 public:
  explicit Rewriter(const Graph& old);

  const Graph& old() const { return old_; }
  Graph& graph() { return graph_; }
  bool live(NodeId node) const { return live_[node]; }
  // How many live nodes, outputs and updates read the value.
  int uses(ValueId old_value) const { return uses_[old_value]; }

  // The new value that stands for an old one. Requires: set or copied before.
  ValueId map(ValueId old_value) const { return map_[old_value]; }
  std::vector<ValueId> map(std::span<const ValueId> old_values) const;
  Tensor tensor(ValueId old_value) { return Tensor(graph_, map(old_value)); }
  std::vector<Tensor> tensors(std::span<const ValueId> old_values);
  void set(ValueId old_value, ValueId new_value) { map_[old_value] = new_value; }
  // All outputs of an old node at once.
  void set(NodeId old_node, std::span<const Tensor> values);
  void copy(NodeId old_node);

  // Copies outputs and updates; the rewriter is spent.
  Graph finish();
  // Copies every live node, then finishes.
  Graph copy_all();

 private:
  const Graph& old_;
  Graph graph_;
  std::vector<ValueId> map_;
  std::vector<bool> live_;
  std::vector<int> uses_;
};

// The single value all elements of `v` have, if that can be seen: a constant of equal elements, or a
// broadcast, reshape or cast of one.
struct Splat {
  bool known = false;
  double value = 0;
};
Splat splat(const Graph& graph, ValueId v);

}  // namespace plimsoll
