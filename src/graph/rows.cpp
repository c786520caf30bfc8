#include "graph/rows.h"

#include <algorithm>

namespace plimsoll {
namespace {

bool fits(const Shape& shape, const Rows& rows, int64_t count) {
  return !rows.cut() || (rows.axis < shape.rank() && shape[rows.axis] == count * rows.per);
}

}  // namespace

std::optional<RowSplit> split_rows(const RowQuery& q) {
  const OpDef& op = q.call.op;
  if (!op.pure) return std::nullopt;
  std::optional<RowSplit> split;
  if (op.rows)
    split = op.rows(q);
  else if (op.tile)
    split = broadcast_rows(q);
  if (!split || split->in.size() != q.call.in.size() || split->out.size() != q.out.size())
    return std::nullopt;
  const int64_t count = q.count();
  for (size_t i = 0; i < split->in.size(); ++i) {
    if (!fits(q.call.in[i].shape, split->in[i], count)) return std::nullopt;
  }
  for (size_t i = 0; i < split->out.size(); ++i) {
    if (split->out[i].axis == Rows::kWhole || !fits(q.out[i].shape, split->out[i], count))
      return std::nullopt;
  }
  return split;
}

RowPart part_of(const OpCall& whole, const RowSplit& split, int64_t first, int64_t count) {
  if (whole.op.row_part) return whole.op.row_part(whole, split, first, count);
  return {&whole.op, whole.attrs};
}

TensorType part_type(const TensorType& whole, const Rows& rows, int64_t count) {
  return rows.cut() ? TensorType{whole.dtype, whole.shape.with(rows.axis, count * rows.per)} : whole;
}

std::optional<RowSplit> leading_rows(const RowQuery& q, std::string_view in, std::string_view out) {
  if (q.rows.axis != 0) return std::nullopt;
  const auto letter = [](std::string_view list, size_t i) { return list[std::min(i, list.size() - 1)]; };
  if ((q.is_input() ? letter(in, q.given) : letter(out, q.output())) != 'b') return std::nullopt;
  const auto rows = [&](char c) { return c == 'b' ? q.rows : Rows{c == '+' ? Rows::kSummed : Rows::kWhole}; };
  RowSplit split;
  for (size_t i = 0; i < q.call.in.size(); ++i) split.in.push_back(rows(letter(in, i)));
  for (size_t i = 0; i < q.out.size(); ++i) split.out.push_back(rows(letter(out, i)));
  return split;
}

std::optional<RowSplit> rows_but(const RowQuery& q, std::span<const int> axes) {
  if (std::find(axes.begin(), axes.end(), q.rows.axis) != axes.end()) return std::nullopt;
  return RowSplit{std::vector<Rows>(q.call.in.size(), q.rows), std::vector<Rows>(q.out.size(), q.rows)};
}

std::optional<RowSplit> rows_beside_axis(const RowQuery& q) {
  const int axis = normalize_axis(q.call.attrs.integer("axis"), q.call.in[0].shape.rank(), q.call.op.name);
  return rows_but(q, std::span(&axis, 1));
}

std::optional<RowSplit> broadcast_rows(const RowQuery& q) {
  const Shape& result = q.out[0].shape;
  const auto from_end = [&](size_t operand) { return result.rank() - q.shape(operand).rank(); };
  const int axis = q.rows.axis + from_end(q.given);
  if (q.shape(q.given)[q.rows.axis] != result[axis]) return std::nullopt;
  RowSplit split;
  for (size_t i = 0; i < q.call.in.size(); ++i) {
    const int own = axis - from_end(i);
    const bool spread = own < 0 || q.call.in[i].shape[own] != result[axis];
    split.in.push_back(spread ? Rows{} : Rows{own, q.rows.per});
  }
  split.out.assign(q.out.size(), {axis, q.rows.per});
  return split;
}

RowPart with_shape_attr(std::string_view attr, const OpCall& whole, const RowSplit& split, int64_t count) {
  RowPart part{&whole.op, whole.attrs};
  Ints shape = whole.attrs.ints(attr);
  const Rows& rows = split.out[0];
  shape[static_cast<size_t>(rows.axis)] = count * rows.per;
  part.attrs.set(attr, shape);
  return part;
}

}  // namespace plimsoll
