#include "train/reduction.h"

#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"
#include "train/loss_functions.h"

namespace plimsoll {
namespace {

Ints axes_between(int from, int to) {
  Ints axes;
  for (int i = from; i < to; ++i) axes.push_back(i);
  return axes;
}

// mean() takes an empty list for all axes.
Tensor mean_over(const Tensor& x, int from, int to) {
  return from < to ? mean(x, axes_between(from, to)) : x;
}

}  // namespace

Tensor apply_mask(const Tensor& weight, const Tensor& mask, DType dtype, std::string_view reduction) {
  if (!mask.defined()) return weight;
  Tensor m = cast(mask, dtype);
  if (reduction == "mean" || reduction == "sum_over_batch_size") {
    const Tensor valid = sum(m);
    const Tensor total = scalar_like(valid, static_cast<double>(mask.shape().elements()));
    m = where(cast(mask, DType::boolean), divide_no_nan(total, valid), scalar_like(m, 0));
  }
  if (!weight.defined()) return m;
  const auto [a, b] = to_same_rank(m, cast(weight, dtype));
  return a * b;
}

Tensor reduce_weighted(const Tensor& values, const Tensor& weight, const Tensor& mask,
                       std::string_view reduction) {
  Tensor v = values;
  Tensor w = apply_mask(weight, mask, v.dtype(), reduction);
  if (w.defined()) {
    std::tie(v, w) = to_same_rank(v, cast(w, v.dtype()));
    v = v * w;
  }
  if (reduction == "none" || v.rank() == 0) return v;
  const Tensor all = sum(v);
  if (reduction == "sum") return all;
  if (reduction == "mean_with_sample_weight" && w.defined()) return divide_no_nan(all, sum(w));
  const int64_t n = v.shape().elements();
  return n == 0 ? all : all / static_cast<double>(n);
}

void add_to_mean(MetricScope& s, const Tensor& values, const Tensor& weight, const Tensor& mask) {
  Tensor v = cast(values, DType::f32);
  Tensor w = weight;
  const Tensor total = s.state("total", Shape{});
  const Tensor count = s.state("count", Shape{});
  if (w.defined()) {
    w = cast(apply_mask(w, mask, DType::f32, "sum"), DType::f32);
    std::tie(v, w) = to_same_rank(v, w);
    v = mean_over(v, w.rank(), v.rank());
    w = broadcast_to(w, v.shape());
    v = v * w;
    w = mean_over(w, 1, w.rank());
  }
  v = mean_over(v, 1, v.rank());
  s.set("total", total + sum(v));
  s.set(
      "count",
      count + (w.defined() ? sum(w) : scalar_like(count, v.rank() > 0 ? static_cast<double>(v.dim(0)) : 1)));
}

}  // namespace plimsoll
