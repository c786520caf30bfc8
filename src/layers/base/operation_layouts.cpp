// Functions of keras.ops that put tensors together, take them apart, and read along diagonals;
// padding.
#include <algorithm>
#include <numeric>

#include "layers/base/json_parts.h"
#include "layers/base/operation_tables.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll::operation {
namespace {

// A -1 is the size there is, as for the batch, which a file leaves open.
Tensor broadcast(const Operands& o) {
  const Tensor x = x_of(o);
  Ints sizes = o.ints(1, "shape");
  const int added = static_cast<int>(std::ssize(sizes)) - x.rank();
  if (added < 0) o.missing("shape");
  for (int i = 0; i < std::ssize(sizes); ++i) {
    int64_t& n = sizes[static_cast<size_t>(i)];
    if (n < 0 && i < added) o.missing("shape");
    if (n < 0) n = x.shape()[i - added];
  }
  return broadcast_to(x, Shape(sizes));
}

Tensor with_axes(Tensor x, int rank) {  // NumPy's atleast_1d, _2d, _3d
  if (x.rank() == 0 && rank > 0) x = expand_dims(x, 0);
  if (x.rank() == 1 && rank > 1) x = expand_dims(x, 0);
  if (x.rank() == 2 && rank > 2) x = expand_dims(x, 2);
  return x;
}
template <int least_rank>
Tensor put_together(const Operands& o) {
  Tensors parts = o.tensors(0, "xs");
  if (parts.empty()) o.missing("xs");
  for (Tensor& part : parts) part = with_axes(part, least_rank);
  // hstack of vectors puts one behind the other.
  return concatenate(parts, least_rank == 2 ? 0 : least_rank == 3 ? 2 : parts[0].rank() > 1 ? 1 : 0);
}

Tensor append(const Operands& o) {
  const bool along = o.option(2, "axis") != nullptr;
  const Tensor a = o.tensor(0, "x1"), b = o.tensor(1, "x2");
  const Tensors parts = {along ? a : flat(a), along ? b : flat(b)};
  return concatenate(parts, from_front(o, o.axis(2, "axis", 0), parts[0].rank()));
}

Tensors array_split(const Operands& o) {
  const Tensor x = x_of(o);
  return split_along(o, x, from_front(o, o.axis(2, "axis", 0), x.rank()), true);
}
template <int axis>
Tensors split_at(const Operands& o) {
  const Tensor x = x_of(o);
  return split_along(o, x, axis == 1 && x.rank() == 1 ? 0 : from_front(o, axis, x.rank()), false);
}

Tensors meshgrid(const Operands& o) {
  Tensors xs = o.operands();
  const std::string indexing = o.text(SIZE_MAX, "indexing");
  const auto count = static_cast<int>(xs.size());
  const bool turned = (indexing.empty() || indexing == "xy") && count > 1;
  if (!turned && !indexing.empty() && indexing != "ij" && indexing != "xy") o.missing("indexing");
  const auto axis_of = [&](int i) { return turned && i < 2 ? 1 - i : i; };
  Ints all(xs.size());
  for (int i = 0; i < count; ++i) {
    if (xs[static_cast<size_t>(i)].rank() > 1) unsupported(o, "meshgrid of other than vectors");
    all[static_cast<size_t>(axis_of(i))] = xs[static_cast<size_t>(i)].shape().elements();
  }
  for (int i = 0; i < count; ++i) {
    Ints sizes(xs.size(), 1);
    sizes[static_cast<size_t>(axis_of(i))] = all[static_cast<size_t>(axis_of(i))];
    Tensor& x = xs[static_cast<size_t>(i)];
    x = broadcast_to(reshape(x, sizes), Shape(all));
  }
  return xs;
}

Tensor linspace(const Operands& o) {
  if (o.flag(4, "retstep")) unsupported(o, "linspace with retstep");
  const Tensor given = to_float(o.tensor(0, "start")), until = to_float(o.tensor(1, "stop"));
  const int64_t count = o.option(2, "num") ? o.integer(2, "num") : 50;
  const Json* ends = o.option(3, "endpoint");
  const bool endpoint = !ends || o.flag(3, "endpoint");
  if (count < 1) o.missing("num");
  const Tensor length = subtract(until, given);
  const Tensor start = add(given, scalar_like(length, 0) * length);
  const int axis = from_front(o, o.axis(6, "axis", 0), length.rank() + 1);
  Ints sizes(static_cast<size_t>(length.rank()) + 1, 1);
  sizes[static_cast<size_t>(axis)] = count;
  const int64_t steps = endpoint ? count - 1 : count;
  const Tensor at =
      reshape(iota(length.dtype(), Shape{count}, 0), sizes) * (1.0 / double(steps > 0 ? steps : 1));
  const Tensor y = expand_dims(broadcast_to(given, length.shape()), axis) * (1.0 - at) +
                   expand_dims(broadcast_to(until, length.shape()), axis) * at;
  return cast(y, o.dtype(5, "dtype", start.dtype()));
}

// The elements of a diagonal of each matrix, as the last axis.
Tensor diagonal(const Operands& o) {
  const Tensor x = x_of(o);
  const int64_t offset = o.option(1, "offset") ? o.integer(1, "offset") : 0;
  const int a = from_front(o, o.axis(2, "axis1", 0), x.rank());
  const int b = from_front(o, o.axis(3, "axis2", 1), x.rank());
  if (a == b) o.missing("axis2");
  Ints order, sizes;
  for (int i = 0; i < x.rank(); ++i) {
    if (i == a || i == b) continue;
    order.push_back(i);
    sizes.push_back(x.shape()[i]);
  }
  order.insert(order.end(), {a, b});
  const int64_t rows = x.shape()[a], columns = x.shape()[b];
  if (offset < -rows || offset > columns) o.missing("offset");
  sizes.push_back(checked_mul(rows, columns, "Diagonal"));
  if (sizes.back() > INT32_MAX) unsupported(o, "a diagonal of so large a matrix");
  std::vector<int32_t> places;
  for (int64_t row = std::max<int64_t>(-offset, 0); row < rows && row + offset < columns; ++row)
    places.push_back(static_cast<int32_t>(row * columns + row + offset));
  const Tensor at = Tensor::from<int32_t>(places, {std::ssize(places)});
  return take(reshape(transpose(x, order), sizes), at, x.rank() - 2);
}

// Zeros above (tril) or below (triu) the k-th diagonal of each matrix.
template <bool lower>
Tensor triangle(const Operands& o) {
  const Tensor x = x_of(o);
  if (x.rank() < 2) o.missing("x");
  const int64_t k = o.option(1, "k") ? o.integer(1, "k") : 0;
  const Shape matrix{x.shape()[x.rank() - 2], x.shape()[x.rank() - 1]};
  const Tensor row = iota(DType::i32, matrix, 0), column = iota(DType::i32, matrix, 1);
  const Tensor edge = row + static_cast<double>(k);
  return where(lower ? less_equal(column, edge) : greater_equal(column, edge), x, scalar_like(x, 0));
}

Tensor rotate(const Operands& o) {
  const Tensor x = o.tensor(0, "array");
  const int64_t times = ((o.option(1, "k") ? o.integer(1, "k") : 1) % 4 + 4) % 4;
  Ints axes = o.ints(2, "axes");
  if (axes.empty()) axes = {0, 1};
  if (axes.size() != 2) o.missing("axes");
  const int a = from_front(o, axes[0], x.rank()), b = from_front(o, axes[1], x.rank());
  Ints order(static_cast<size_t>(x.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<size_t>(a)], order[static_cast<size_t>(b)]);
  if (times == 0) return x;
  if (times == 2) return reverse(x, {a, b});
  return times == 1 ? transpose(reverse(x, {b}), order) : reverse(transpose(x, order), {b});
}

Tensor take_along(const Operands& o) {
  const Tensor given = x_of(o), at = cast(o.tensor(1, "indices"), DType::i32);
  const Tensor x = o.option(2, "axis") ? given : flat(given);
  return take_along_axis(x, o.option(2, "axis") ? at : flat(at),
                         from_front(o, o.axis(2, "axis", 0), x.rank()));
}

// Blocks of pixels turned into channels, or back.
template <bool to_depth>
Tensor between_space_and_depth(const Operands& o) {
  const Tensor x = x_of(o);
  const int64_t n = o.integer(1, "block_size");
  const bool first = o.text(2, "data_format") == "channels_first";
  if (x.rank() != 4 || n < 1) o.missing("block_size");
  const Shape& s = x.shape();
  const int64_t batch = s[0], channels = s[first ? 1 : 3], rows = s[first ? 2 : 1],
                columns = s[first ? 3 : 2];
  if (to_depth ? rows % n != 0 || columns % n != 0 : channels % checked_mul(n, n, "DepthToSpace") != 0)
    o.missing("block_size");
  if (to_depth) {
    if (!first)
      return reshape(
          transpose(reshape(x, Shape{batch, rows / n, n, columns / n, n, channels}), {0, 1, 3, 2, 4, 5}),
          Shape{batch, rows / n, columns / n, channels * n * n});
    return reshape(
        transpose(reshape(x, Shape{batch, channels, rows / n, n, columns / n, n}), {0, 1, 3, 5, 2, 4}),
        Shape{batch, channels * n * n, rows / n, columns / n});
  }
  const int64_t left = channels / (n * n);
  if (!first)
    return reshape(transpose(reshape(x, Shape{batch, rows, columns, n, n, left}), {0, 1, 3, 2, 4, 5}),
                   Shape{batch, rows * n, columns * n, left});
  return reshape(transpose(reshape(x, Shape{batch, left, n, n, rows, columns}), {0, 1, 4, 2, 5, 3}),
                 Shape{batch, left, rows * n, columns * n});
}

// The element of an axis of `size` that NumPy's mode puts at `at`, which may lie before it or behind.
int64_t source_of(const Operands& o, std::string_view mode, int64_t at, int64_t size) {
  const auto within = [&](int64_t period) { return ((at % period) + period) % period; };
  if (mode == "edge") return std::clamp<int64_t>(at, 0, size - 1);
  if (mode == "wrap") return within(size);
  if (mode == "symmetric") return std::min(within(2 * size), 2 * size - 1 - within(2 * size));
  if (mode != "reflect") unsupported(o, "padding of the mode '" + std::string(mode) + "'");
  if (size == 1) return 0;
  return std::min(within(2 * size - 2), 2 * size - 2 - within(2 * size - 2));
}

Tensor pad_from_within(const Operands& o, Tensor x, std::string_view mode, const Ints& low,
                       const Ints& high) {
  for (int axis = 0; axis < x.rank(); ++axis) {
    const int64_t before = low[static_cast<size_t>(axis)], after = high[static_cast<size_t>(axis)];
    const int64_t size = x.shape()[axis];
    if (before == 0 && after == 0) continue;
    if (size < 1 || size > INT32_MAX / 4 || before > INT32_MAX / 4 || after > INT32_MAX / 4)
      o.missing("pad_width");
    const int64_t all = before + size + after;
    const Tensor from = Tensor::empty(DType::i32, {all});
    for (int64_t i = 0; i < all; ++i)
      from.data<int32_t>()[i] = static_cast<int32_t>(source_of(o, mode, i - before, size));
    x = take(x, from, axis);
  }
  return x;
}

}  // namespace

Tensor pad_with(const Operands& o) {
  const Tensor x = x_of(o);
  const std::string mode = o.text(2, "mode");
  const Json* width = o.option(1, "pad_width");
  if (!width) o.missing("pad_width");
  Ints low, high;
  for (int i = 0; i < x.rank(); ++i) {
    const auto at = static_cast<size_t>(i);
    const Json* pair = width;  // of all axes: one number, a pair, or a list of one pair
    if (pair->is_array() && !pair->empty() && (*pair)[0].is_array())
      pair = pair->size() == 1 ? &(*pair)[0] : at < pair->size() ? &(*pair)[at] : nullptr;
    if (!pair || (pair->is_array() && pair->size() != 2)) o.missing("pad_width");
    const auto before = int64_of(pair->is_array() ? (*pair)[0] : *pair);
    const auto after = int64_of(pair->is_array() ? (*pair)[1] : *pair);
    if (!before || !after || *before < 0 || *after < 0) o.missing("pad_width");
    low.push_back(*before);
    high.push_back(*after);
  }
  if (!mode.empty() && mode != "constant") return pad_from_within(o, x, mode, low, high);
  return pad(x, low, high, {}, o.real(SIZE_MAX, "constant_values", 0));
}

const Functions& layout_functions() {
  static const Functions all_functions = {
      {"BroadcastTo", broadcast},
      {"Hstack", put_together<1>},
      {"Vstack", put_together<2>},
      {"Dstack", put_together<3>},
      {"Append", append},
      {"Linspace", linspace},
      {"Diagonal", diagonal},
      {"Trace", [](const Operands& o) { return sum(diagonal(o), {-1}); }},
      {"Tril", triangle<true>},
      {"Triu", triangle<false>},
      {"Rot90", rotate},
      {"Fliplr", [](const Operands& o) { return reverse(x_of(o), {from_front(o, 1, x_of(o).rank())}); }},
      {"Flipud", [](const Operands& o) { return reverse(x_of(o), {from_front(o, 0, x_of(o).rank())}); }},
      {"TakeAlongAxis", take_along},
      {"SpaceToDepth", between_space_and_depth<true>},
      {"DepthToSpace", between_space_and_depth<false>},
  };
  return all_functions;
}

const ManyFunctions& split_functions() {
  static const ManyFunctions all_functions = {
      {"Split", split},        {"Unstack", unstack},    {"ArraySplit", array_split}, {"Vsplit", split_at<0>},
      {"Hsplit", split_at<1>}, {"Dsplit", split_at<2>}, {"Meshgrid", meshgrid},
  };
  return all_functions;
}

}  // namespace plimsoll::operation
