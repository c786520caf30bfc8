// Functions of keras.ops that sum up: means with weights, medians and other quantiles, differences.
#include <algorithm>
#include <cmath>
#include <limits>

#include "layers/base/json_parts.h"
#include "layers/base/operation_tables.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/order.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll::operation {
namespace {

Tensor is_nan(const Tensor& x) { return not_equal(x, x); }

Tensor average(const Operands& o) {
  Tensor x = to_float(x_of(o));
  const Ints axes = o.ints(2, "axis");
  if (!o.option(1, "weights")) return mean(x, axes);
  const Tensor weights = to_float(o.tensor(1, "weights"));
  Tensor spread = weights;
  if (weights.rank() == 1 && x.rank() > 1) {
    if (axes.size() != 1) o.missing("axis");
    const int axis = from_front(o, axes[0], x.rank());
    Ints sizes(static_cast<size_t>(x.rank()), 1);
    sizes[static_cast<size_t>(axis)] = weights.shape()[0];
    spread = reshape(weights, sizes);
  }
  spread = broadcast_to(spread, x.shape());
  return divide(sum(multiply(x, spread), axes), sum(spread, axes));
}

Tensor difference(const Operands& o) {
  Tensor x = o.tensor(0, "a");
  const int64_t times = o.option(1, "n") ? o.integer(1, "n") : 1;
  const int axis = from_front(o, o.axis(2, "axis", -1), x.rank());
  if (times < 0 || times > 4096) o.missing("n");
  for (int64_t i = 0; i < times && x.shape()[axis] > 0; ++i) {
    const int64_t size = x.shape()[axis];
    const Tensor after = part_of(x, axis, 1, size), before = part_of(x, axis, 0, size - 1);
    x = x.dtype() == DType::boolean ? not_equal(after, before) : subtract(after, before);
  }
  return x;
}

// The reduced axes as one, the last, in ascending order; and the shape of the result with or without them.
struct Sorted {
  Tensor values, has_nan;
  Ints result;
};
Sorted sorted(const Operands& o, const Ints& given, bool keepdims) {
  const Tensor x = to_float(x_of(o));
  std::vector<bool> reduced(static_cast<size_t>(x.rank()), given.empty());
  for (const int64_t axis : given) reduced[static_cast<size_t>(from_front(o, axis, x.rank()))] = true;
  Ints order, behind, sizes, result;
  int64_t count = 1;
  for (int i = 0; i < x.rank(); ++i) {
    const bool gone = reduced[static_cast<size_t>(i)];
    (gone ? behind : order).push_back(i);
    if (gone) count = checked_mul(count, x.shape()[i], "Quantile");
    if (!gone) sizes.push_back(x.shape()[i]);
    if (!gone || keepdims) result.push_back(gone ? 1 : x.shape()[i]);
  }
  if (count < 1) o.missing("axis");
  order.insert(order.end(), behind.begin(), behind.end());
  sizes.push_back(count);
  const Tensor last = reshape(transpose(x, order), sizes);
  return {sort(last, last.rank() - 1), any(is_nan(last), {last.rank() - 1}), result};
}

Tensor quantile_of(const Operands& o, const Sorted& s, double q, std::string_view method) {
  if (!(q >= 0 && q <= 1)) o.missing("q");
  const int axis = s.values.rank() - 1;
  const double at = q * static_cast<double>(s.values.shape()[axis] - 1);
  const auto low = static_cast<int64_t>(std::floor(at)), high = static_cast<int64_t>(std::ceil(at));
  const auto value = [&](int64_t i) { return squeeze(part_of(s.values, axis, i, i + 1), axis); };
  const double part = at - std::floor(at);
  Tensor y;
  if (method == "linear")
    y = low == high ? value(low) : value(low) * (1 - part) + value(high) * part;
  else if (method == "midpoint")
    y = low == high ? value(low) : (value(low) + value(high)) * 0.5;
  else if (method == "lower" || method == "higher")
    y = value(method == "lower" ? low : high);
  else if (method == "nearest")
    y = value(static_cast<int64_t>(std::nearbyint(at)));
  else
    o.missing("method");
  y = where(s.has_nan, scalar_like(y, std::numeric_limits<double>::quiet_NaN()), y);
  return reshape(y, s.result);
}

Tensor median(const Operands& o) {
  return quantile_of(o, sorted(o, o.ints(1, "axis"), o.flag(2, "keepdims")), 0.5, "midpoint");
}

// q is a number, or a list of them: then it is the first axis of the result.
template <int whole>
Tensor quantile(const Operands& o) {
  const Json* given = o.option(1, "q");
  if (!given || marked_tensor(*given)) unsupported(o, "a quantile whose q is no constant");
  const Tensor q = cast(o.tensor(1, "q"), DType::f64);
  if (q.rank() > 1) o.missing("q");
  const std::string method = o.text(3, "method").empty() ? "linear" : o.text(3, "method");
  const Sorted s = sorted(o, o.ints(2, "axis"), o.flag(4, "keepdims"));
  Tensors all;
  for (int64_t i = 0; i < q.shape().elements(); ++i) {
    const Tensor y = quantile_of(o, s, q.data<double>()[i] / whole, method);
    if (q.rank() == 0) return y;
    all.push_back(expand_dims(y, 0));
  }
  if (all.empty()) o.missing("q");
  return concatenate(all, 0);
}

Tensor range_of(const Operands& o) {
  const Tensor x = x_of(o);
  const Ints axes = o.ints(1, "axis");
  const bool keep = o.flag(2, "keepdims");
  return subtract(max(x, axes, keep), min(x, axes, keep));
}

// Reductions that leave NaN out: `instead` stands in for it.
Tensor without_nan(const Tensor& x, double instead) {
  return is_float(x.dtype()) ? where(is_nan(x), scalar_like(x, instead), x) : x;
}
template <Tensor (*reduce)(const Tensor&, const Ints&, bool), int instead>
Tensor leaving_nan(const Operands& o) {
  return reduce(without_nan(x_of(o), instead), o.ints(1, "axis"), o.flag(2, "keepdims"));
}
template <Tensor (*reduce)(const Tensor&, const Ints&, bool), int sign>
Tensor extreme_but_nan(const Operands& o) {
  const Tensor x = to_float(x_of(o));
  const Ints axes = o.ints(1, "axis");
  const bool keep = o.flag(2, "keepdims");
  const Tensor y = reduce(without_nan(x, sign * std::numeric_limits<double>::infinity()), axes, keep);
  return where(plimsoll::all(is_nan(x), axes, keep), scalar_like(y, std::numeric_limits<double>::quiet_NaN()),
               y);
}
Tensor mean_but_nan(const Operands& o) {
  const Tensor x = to_float(x_of(o));
  const Ints axes = o.ints(1, "axis");
  const bool keep = o.flag(2, "keepdims");
  return divide(sum(without_nan(x, 0), axes, keep), sum(cast(logical_not(is_nan(x)), x.dtype()), axes, keep));
}

}  // namespace

const Functions& statistic_functions() {
  static const Functions all_functions = {
      {"Average", average},
      {"Diff", difference},
      {"Median", median},
      {"Quantile", quantile<1>},
      {"Percentile", quantile<100>},
      {"Ptp", range_of},
      {"Nansum", leaving_nan<sum, 0>},
      {"Nanprod", leaving_nan<prod, 1>},
      {"Nanmax", extreme_but_nan<max, -1>},
      {"Nanmin", extreme_but_nan<min, 1>},
      {"Nanmean", mean_but_nan},
  };
  return all_functions;
}

}  // namespace plimsoll::operation
