#include "layers/base/parts.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

// Takes axis `from` out and puts it in again at `to`.
Tensor move_axis(const Tensor& x, int from, int to) {
  if (from == to) return x;
  Ints order(static_cast<size_t>(x.rank()));
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return transpose(x, order);
}

}  // namespace

void check_choice(std::string_view place, std::string_view argument, std::string_view value,
                  std::initializer_list<std::string_view> choices) {
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return;
  std::string list;
  for (const std::string_view choice : choices) list += concat(list.empty() ? "'" : "', '", choice);
  fail(ErrorKind::invalid_argument, place, "expected ", argument, " to be one of ", list, "', got '", value,
       "'");
}

void refuse(std::string_view place, std::string_view argument) {
  fail(ErrorKind::unsupported, place, "the argument '", argument, "' is not supported");
}

void dims_field(Fields& f, std::string_view name, Dims& value, int rank, std::string_view place) {
  if (!f.reading() && !value.empty()) value = Dims(value.of_rank(rank, place));
  f(name, value);
}

bool is_channels_first(std::string_view place, std::string_view data_format) {
  check_choice(place, "data_format", data_format, {"channels_last", "channels_first"});
  return data_format == "channels_first";
}

Tensor channels_to_last(const Tensor& x) { return move_axis(x, 1, x.rank() - 1); }
Tensor channels_to_first(const Tensor& x) { return move_axis(x, x.rank() - 1, 1); }

Tensor axis_to_last(const Tensor& x, int axis) { return move_axis(x, axis, x.rank() - 1); }
Tensor axis_from_last(const Tensor& x, int axis) { return move_axis(x, x.rank() - 1, axis); }

Tensor along_axis(const Tensor& v, int axis, int rank) {
  Ints sizes(static_cast<size_t>(rank), 1);
  sizes[static_cast<size_t>(axis)] = v.dim(0);
  return reshape(v, Shape(sizes));
}

Tensor slice_axis(const Tensor& x, int axis, int64_t start, int64_t limit) {
  Ints starts(static_cast<size_t>(x.rank()), 0);
  Ints limits(x.shape().begin(), x.shape().end());
  starts[static_cast<size_t>(axis)] = start;
  limits[static_cast<size_t>(axis)] = limit;
  return slice(x, starts, limits);
}

Tensor unit_length(const Tensor& x, const Ints& axes, double epsilon) {
  return x * rsqrt(maximum(sum(square(x), axes, true), scalar_like(x, epsilon * epsilon)));
}

void visit_list(std::string_view attribute, const std::vector<Layer>& layers,
                const std::function<void(std::string_view, const Layer&)>& visit) {
  std::map<std::string, int> used;
  for (const Layer& layer : layers) {
    const std::string kind = snake_name(layer->class_name());
    const int number = used[kind]++;
    visit(number == 0 ? concat(attribute, "/", kind) : concat(attribute, "/", kind, "_", number), layer);
  }
}

}  // namespace plimsoll
