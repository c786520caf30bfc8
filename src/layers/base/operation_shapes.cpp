#include "layers/base/operation_shapes.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "layers/base/json_parts.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll::operation {

[[noreturn]] void unsupported(const Operands& o, std::string_view what) {
  fail(ErrorKind::unsupported, o.place(), what, " is not supported; cut the model before it");
}

Tensor x_of(const Operands& o) { return o.tensor(0, "x"); }
Tensor to_bool(const Tensor& x) { return x.dtype() == DType::boolean ? x : not_equal(x, scalar_like(x, 0)); }
Tensor to_float(const Tensor& x) { return is_float(x.dtype()) ? x : cast(x, DType::f32); }

int from_front(const Operands& o, int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) o.missing("axis");
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Tensor flat(const Tensor& x) { return reshape(x, Shape{x.shape().elements()}); }
Tensor flat_unless_axis(const Operands& o, int& axis) {
  const Tensor x = x_of(o);
  axis = o.option(1, "axis") ? from_front(o, o.axis(1, "axis", 0), x.rank()) : 0;
  return o.option(1, "axis") ? x : flat(x);
}

Tensor part_of(const Tensor& x, int axis, int64_t begin, int64_t end) {
  Ints low(static_cast<size_t>(x.rank()), 0), high(low);
  for (int i = 0; i < x.rank(); ++i) high[static_cast<size_t>(i)] = x.shape()[i];
  low[static_cast<size_t>(axis)] = begin;
  high[static_cast<size_t>(axis)] = end;
  return slice(x, low, high);
}

namespace {

std::vector<int> axes_from_front(const Operands& o, std::string_view name, int rank) {
  std::set<int> sorted;
  for (const int64_t axis : o.ints(1, name)) sorted.insert(from_front(o, axis, rank));
  return {sorted.begin(), sorted.end()};
}

Index index_of(const Operands& o, const Json& key) {
  if (key.is_null()) return NewAxis;
  if (text_of(key, "class_name") == "__ellipsis__") return Ellipsis;
  const auto number = [&](const Json& json) {
    const std::optional<int64_t> at = int64_of(json);
    if (!at) o.missing("key");
    return *at;
  };
  if (key.is_number_integer()) return number(key);
  const Json* slice = find(key, "config");
  if (!slice) o.missing("key");
  const auto bound = [&](std::string_view name) {
    const Json* given = find(*slice, name);
    return given ? std::optional<int64_t>(number(*given)) : std::nullopt;
  };
  return Slice{bound("start"), bound("stop"), bound("step")};
}

}  // namespace

// x[index], for integers, slices, None and Ellipsis.
Tensor get_item(const Operands& o) {
  const Json* key = o.option(1, "key");
  if (!key) o.missing("key");
  std::vector<Index> indices;
  for (const Json& k : key->is_array() ? *key : Json::array({*key})) indices.push_back(index_of(o, k));
  return x_of(o).at(indices);
}

Tensor reshape_to(const Operands& o) {
  const Tensor x = x_of(o);
  Ints sizes = o.ints(1, "newshape");
  int64_t known = 1;
  for (const int64_t n : sizes) known = checked_mul(known, n < 0 ? 1 : n, "Reshape");
  for (int64_t& n : sizes) {
    if (n < 0) n = known > 0 ? x.shape().elements() / known : 0;
  }
  return reshape(x, sizes);
}

Tensor transpose_by(const Operands& o) {
  const Tensor x = x_of(o);
  Ints axes = o.ints(1, "axes");
  if (axes.empty()) {
    for (int i = x.rank(); i-- > 0;) axes.push_back(i);
  }
  return transpose(x, axes);
}

Tensor swap_axes(const Operands& o) {
  const Tensor x = x_of(o);
  Ints order(static_cast<size_t>(x.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<size_t>(from_front(o, o.integer(1, "axis1"), x.rank()))],
            order[static_cast<size_t>(from_front(o, o.integer(2, "axis2"), x.rank()))]);
  return transpose(x, order);
}

Tensor move_axes(const Operands& o) {
  const Tensor x = x_of(o);
  const Ints from = o.ints(1, "source"), to = o.ints(2, "destination");
  if (from.size() != to.size()) o.missing("destination");
  Ints order(static_cast<size_t>(x.rank()), -1);
  std::set<int64_t> moved;
  for (size_t i = 0; i < from.size(); ++i) {
    const int source = from_front(o, from[i], x.rank());
    order[static_cast<size_t>(from_front(o, to[i], x.rank()))] = source;
    moved.insert(source);
  }
  int64_t next = 0;
  for (int64_t& place : order) {
    if (place >= 0) continue;
    while (moved.count(next)) ++next;
    place = next++;
  }
  return transpose(x, order);
}

Tensor expand(const Operands& o) {
  Tensor x = x_of(o);
  const auto added = static_cast<int>(o.ints(1, "axis").size());
  for (const int axis : axes_from_front(o, "axis", x.rank() + added)) x = expand_dims(x, axis);
  return x;
}

// Without an axis every axis of one element goes, but the batch stays, whatever its size.
Tensor squeeze_out(const Operands& o) {
  Tensor x = x_of(o);
  std::vector<int> axes = axes_from_front(o, "axis", x.rank());
  if (!o.option(1, "axis")) {
    for (int i = 1; i < x.rank(); ++i) {
      if (x.shape()[i] == 1) axes.push_back(i);
    }
  }
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) x = squeeze(x, *axis);
  return x;
}

Tensor stack(const Operands& o) {
  Tensors parts = o.tensors(0, "x");
  if (parts.empty()) o.missing("x");
  const int axis = from_front(o, o.axis(1, "axis", 0), parts[0].rank() + 1);
  for (Tensor& part : parts) part = expand_dims(part, axis);
  return concatenate(parts, axis);
}

Tensors split_along(const Operands& o, const Tensor& x, int axis, bool uneven) {
  const int64_t size = x.shape()[axis];
  const Json* given = o.option(1, "indices_or_sections");
  Ints ends = o.ints(1, "indices_or_sections");
  if (given && !given->is_array()) {
    const int64_t count = ends.at(0);
    if (count < 1 || count > 4096 || (!uneven && size % count != 0)) o.missing("indices_or_sections");
    ends.clear();
    for (int64_t i = 1; i < count; ++i) ends.push_back(i * (size / count) + std::min(i, size % count));
  }
  ends.push_back(size);
  Tensors parts;
  int64_t begin = 0;
  for (const int64_t end : ends) {
    if (end < begin || end > size) o.missing("indices_or_sections");
    parts.push_back(part_of(x, axis, begin, end));
    begin = end;
  }
  return parts;
}

Tensors split(const Operands& o) {
  const Tensor x = x_of(o);
  return split_along(o, x, from_front(o, o.axis(2, "axis", 0), x.rank()), false);
}

Tensors unstack(const Operands& o) {
  const Tensor x = x_of(o);
  const int axis = from_front(o, o.axis(2, "axis", 0), x.rank());
  if (x.shape()[axis] > 4096) o.missing("axis");
  Tensors parts;
  for (int64_t i = 0; i < x.shape()[axis]; ++i) parts.push_back(squeeze(part_of(x, axis, i, i + 1), axis));
  return parts;
}

Tensor repeat(const Operands& o) {
  const Tensor given = x_of(o);
  const int64_t times = o.integer(1, "repeats");
  if (times < 1) o.missing("repeats");
  const Tensor x = o.option(2, "axis") ? given : flat(given);
  const int axis = from_front(o, o.axis(2, "axis", 0), x.rank());
  const Shape wide = x.shape().inserted(axis + 1, times);
  Ints sizes;
  for (int i = 0; i < x.rank(); ++i)
    sizes.push_back(checked_mul(x.shape()[i], i == axis ? times : 1, "Repeat"));
  return reshape(broadcast_to(expand_dims(x, axis + 1), wide), sizes);
}

Tensor tile(const Operands& o) {
  Tensor x = x_of(o);
  Ints times = o.ints(1, "repeats");
  while (std::ssize(times) < x.rank()) times.insert(times.begin(), 1);
  while (x.rank() < std::ssize(times)) x = expand_dims(x, 0);
  for (int axis = 0; axis < x.rank(); ++axis) {
    const int64_t n = times[static_cast<size_t>(axis)];
    if (n < 1 || n > 4096) o.missing("repeats");
    if (n > 1) x = concatenate(Tensors(static_cast<size_t>(n), x), axis);
  }
  return x;
}

Tensor flip(const Operands& o) {
  const Tensor x = x_of(o);
  Ints axes = o.ints(1, "axis");
  if (axes.empty()) {
    axes.resize(static_cast<size_t>(x.rank()));
    std::iota(axes.begin(), axes.end(), 0);
  }
  for (int64_t& axis : axes) axis = from_front(o, axis, x.rank());
  return reverse(x, axes);
}

Tensor roll(const Operands& o) {
  const Tensor given = x_of(o);
  const Tensor x = o.option(2, "axis") ? given : flat(given);
  const int axis = from_front(o, o.axis(2, "axis", 0), x.rank());
  const int64_t size = x.shape()[axis];
  if (size == 0) return given;
  const int64_t shift = ((o.integer(1, "shift") % size) + size) % size;
  if (shift == 0) return given;
  const Tensors parts = {part_of(x, axis, size - shift, size), part_of(x, axis, 0, size - shift)};
  return reshape(concatenate(parts, axis), given.shape());
}

Tensor take_of(const Operands& o) {
  const Tensor given = x_of(o), at = cast(o.tensor(1, "indices"), DType::i32);
  const Tensor x = o.option(2, "axis") ? given : flat(given);
  const int axis = from_front(o, o.axis(2, "axis", 0), x.rank());
  const Tensor size = scalar_like(at, static_cast<double>(x.shape()[axis]));
  return take(x, where(less(at, scalar_like(at, 0)), add(at, size), at), axis);
}

Tensor slice_of(const Operands& o) {
  const Tensor x = o.tensor(0, "inputs");
  const Ints starts = o.ints(1, "start_indices"), sizes = o.ints(2, "shape");
  if (std::ssize(starts) != x.rank() || std::ssize(sizes) != x.rank()) o.missing("shape");
  Ints ends;
  for (size_t i = 0; i < starts.size(); ++i) {
    const int64_t size = x.shape()[static_cast<int>(i)];
    if (starts[i] < 0 || sizes[i] < 0 || starts[i] > size || sizes[i] > size - starts[i]) o.missing("shape");
    ends.push_back(starts[i] + sizes[i]);
  }
  return slice(x, starts, ends);
}

}  // namespace plimsoll::operation
