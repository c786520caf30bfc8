// Dataflow: what the planner reads off a graph before it chooses an order: which nodes run, whose bytes each
// value is, who reads them, which outputs may take over the bytes of an input, and which updates of variables
// can be computed right into the variable. Immutable once made; refers to the graph, which must outlive it.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"
#include "plimsoll/graph.h"

namespace plimsoll {

class Capabilities;

class Dataflow {
 public:
  // A node that runs, by its position in the graph's order among those that do.
  using Run = uint32_t;

  // fixed_order: the nodes will run in the graph's order, so that no constraint can be added.
  // `can`: whose rules of working in place hold; nullptr: those of the ops themselves.
  Dataflow(const Graph& graph, bool reuse, bool fixed_order, const Capabilities* can = nullptr);

  const Graph& graph() const { return graph_; }
  // Neither constants nor alias ops nor nodes that nothing depends on.
  const std::vector<NodeId>& runs() const { return runs_; }
  const Node& node(Run r) const { return graph_.node(runs_[r]); }

  // The value whose bytes `v` is: `v` itself, or what an alias op (reshape) was given.
  ValueId root(ValueId v) const { return roots_[v]; }
  // Of a root that no node makes: its input, variable or constant. Of the next value of a variable that is
  // updated in place: that variable. Else of kind none: bytes are to be found for it.
  const Place& fixed(ValueId root) const { return fixed_[root]; }
  int64_t bytes(ValueId v) const { return bytes_[v]; }

  const std::vector<Run>& readers(ValueId root) const { return readers_[root]; }  // ascending
  bool read_at_end(ValueId root) const { return read_at_end_[root]; }             // by an output or an update

  // Inputs, as a bit mask, whose bytes output `out` may take over if they die at r.
  uint64_t in_place(Run r, size_t out) const { return in_place_[r][out]; }

  // Runs that must come before and after r: by data, and so that a variable is read before it is updated in
  // place.
  const std::vector<Run>& before(Run r) const { return before_[r]; }
  const std::vector<Run>& after(Run r) const { return after_[r]; }
  // r makes nothing but next values of variables updated in place.
  bool only_updates(Run r) const;

 private:
  void find_roots();
  void find_runs();
  void find_readers();
  void find_in_place(const Capabilities* can);
  void place_updates(bool fixed_order);
  bool can_update_in_place(ValueId variable, ValueId next, bool fixed_order);
  bool reaches(Run from, const std::vector<Run>& any_of);

  const Graph& graph_;
  std::vector<ValueId> roots_;
  std::vector<int64_t> bytes_;
  std::vector<Place> fixed_;
  std::vector<NodeId> runs_;
  std::vector<Run> run_of_;  // by NodeId; kNone if it does not run
  std::vector<std::vector<Run>> readers_;
  std::vector<bool> read_at_end_;
  std::vector<std::vector<uint64_t>> in_place_;
  std::vector<std::vector<Run>> before_;
  std::vector<std::vector<Run>> after_;
  std::vector<uint32_t> seen_;  // of reaches(): the search that saw a run last
  uint32_t search_ = 0;
};

}  // namespace plimsoll
