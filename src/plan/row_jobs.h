// RowJobs: which nodes of a graph can run on ranges of the rows of a batch, and in which stage. A stage runs
// range by range; between two stages stands what needs all rows at once: sums that others wait for, and nodes
// that look across rows. Immutable once made; refers to the graph, which must outlive it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "graph/rows.h"
#include "plimsoll/graph.h"

namespace plimsoll {

// Where rows of the batch lie in the graph's inputs, by value.
std::vector<Rows> rows_of_inputs(const Graph& graph);
// How a node that reads these rows can run on ranges of them; nothing: it looks across them, reads none, or
// makes a sum that is larger than all it is made of.
std::optional<RowSplit> split_of(const Graph& graph, const Node& node, std::span<const Rows> rows);

// The rows of a batch: the first axis that the inputs with most bytes share. 0: there is none.
int64_t batch_rows(const Graph& graph);

// A node on ranges of rows.
struct RowJob {
  NodeId node;
  RowSplit split;
  bool own;  // else a twin of a node that nothing with rows goes into: all of its result is made apart
  int stage = 0;
};

class RowJobs {
 public:
  explicit RowJobs(const Graph& graph);

  int64_t rows() const { return rows_; }
  // By node; each comes after those it reads.
  const std::vector<RowJob>& jobs() const { return jobs_; }
  int stages() const { return stages_; }
  // The stage before which a node runs on all rows at once; -1: it does not.
  int boundary(NodeId node) const { return boundary_[node]; }
  // Somebody needs all of the value.
  bool needs_whole(ValueId v) const { return needs_whole_[v]; }
  // The job whose parts these rows are; kNone: they are a slice of the whole value.
  uint32_t maker(ValueId v, const Rows& rows) const;

 private:
  using Key = std::tuple<ValueId, int, int64_t>;
  static Key key(ValueId v, const Rows& rows) { return {v, rows.axis, rows.per}; }

  void label();
  void find_needs();
  void need(ValueId v, const Rows& rows);
  void add_twins(NodeId node);
  void need_inputs(NodeId node, const RowSplit& split);
  void find_earliest();
  void find_latest();
  void settle();
  void put_off();
  template <class F>
  void each_input(const RowJob& job, F f) const;
  int ready(ValueId whole) const;

  const Graph& graph_;
  int64_t rows_;
  std::vector<Rows> label_;                      // by value: where its rows are
  std::vector<std::optional<RowSplit>> split_;   // by node
  std::vector<bool> needs_whole_, needs_rows_;   // by value
  std::map<ValueId, std::vector<Rows>> wanted_;  // rows of values that have none of their own
  std::vector<RowJob> jobs_;
  std::map<Key, uint32_t> made_by_;
  std::vector<uint32_t> job_of_;  // by node: its own job; kNone: none
  std::vector<int> boundary_, latest_boundary_, latest_stage_;
  std::vector<bool> read_by_rows_;  // by job
  int stages_ = 0;
};

}  // namespace plimsoll
