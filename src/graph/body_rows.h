// The rows of a batch in a sub-graph, for ops that carry one.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "graph/rows.h"
#include "plimsoll/graph.h"

namespace plimsoll {

// Where rows lie in all values of a body, given one of them. Immutable once made; refers to the graph.
class BodyRows {
 public:
  // Nothing if a node looks across the rows.
  static std::optional<BodyRows> find(const Graph& body, ValueId given, const Rows& rows);

  const Rows& rows(ValueId v) const { return rows_[v]; }  // kSummed: of the outputs only
  std::shared_ptr<const Graph> part(int64_t first, int64_t count) const;

 private:
  explicit BodyRows(const Graph& body)
      : body_(&body), rows_(body.values().size()), splits_(body.nodes().size()) {}
  bool spread();
  bool add(NodeId node, size_t given, bool& more);

  const Graph* body_;
  std::vector<Rows> rows_;
  std::vector<std::optional<RowSplit>> splits_;  // by node; none: it has no rows
};

}  // namespace plimsoll
