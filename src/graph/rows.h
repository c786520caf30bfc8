// Rows: how the rows of a batch pass through an op. Each op says in its file (OpDef::rows), for any operand
// in which rows lie along an axis, where they lie in all others, which outputs are sums over them, and which
// inputs every row needs in whole. What it says holds for any axis with any meaning: a node that is run on
// ranges of rows, one after the other, gives the same rows and sums. tests/op_sweep/rows_test.cpp checks it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/op.h"

namespace plimsoll {

// Where rows lie in a tensor: row r is indices [r * per, (r + 1) * per) of the axis.
struct Rows {
  static constexpr int kWhole = -1;   // an input: each range needs all of it
  static constexpr int kSummed = -2;  // an output: the sum of what the ranges give
  int axis = kWhole;
  int64_t per = 1;
  bool cut() const { return axis >= 0; }
  bool operator==(const Rows&) const = default;
};

// Operand `given` (inputs first, then outputs) has these rows; where are they in the others?
struct RowQuery {
  OpCall call;
  std::span<const TensorType> out;
  size_t given;
  Rows rows;

  bool is_input() const { return given < call.in.size(); }
  size_t output() const { return given - call.in.size(); }
  const Shape& shape(size_t operand) const {
    return operand < call.in.size() ? call.in[operand].shape : out[operand - call.in.size()].shape;
  }
  int64_t count() const { return shape(given)[rows.axis] / rows.per; }
};

// One entry per input and output. All that are cut have the same number of rows.
struct RowSplit {
  std::vector<Rows> in, out;
};

struct RowPart {
  const OpDef* op;
  Attrs attrs;
};

// What the op says; nothing if a result may depend on all rows. Requires: query.rows is cut, and its axis has
// a multiple of `per` elements.
std::optional<RowSplit> split_rows(const RowQuery& query);
RowPart part_of(const OpCall& whole, const RowSplit& split, int64_t first, int64_t count);
// The type of `count` rows of a tensor.
TensorType part_type(const TensorType& whole, const Rows& rows, int64_t count);

// Rules that ops share.

// One letter per input and output: b, its first axis has the rows; -, all of it; +, a sum over them. The last
// letter stands for all that follow.
std::optional<RowSplit> leading_rows(const RowQuery& query, std::string_view in, std::string_view out);
// All operands have the same axes, and those listed are not taken apart.
std::optional<RowSplit> rows_but(const RowQuery& query, std::span<const int> axes);
// The same for the attribute "axis".
std::optional<RowSplit> rows_beside_axis(const RowQuery& query);
// Operands are broadcast to the shape of the first output.
std::optional<RowSplit> broadcast_rows(const RowQuery& query);
// The same op, with the size of the rows put into an attribute that is the shape of the first output.
RowPart with_shape_attr(std::string_view attr, const OpCall& whole, const RowSplit& split, int64_t count);

}  // namespace plimsoll
