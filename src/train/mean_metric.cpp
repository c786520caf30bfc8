#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"
#include "train/metrics/mean.h"

namespace plimsoll {

void add_to_mean(MetricScope& s, const Tensor& values, const Tensor& weight) {
  const Tensor v = cast(values, DType::f32);
  const Tensor total = s.state("total", Shape{});
  const Tensor count = s.state("count", Shape{});
  if (!weight.defined()) {
    s.set("total", total + sum(v));
    s.set("count", count + static_cast<double>(v.shape().elements()));
    return;
  }
  Tensor w = cast(weight, DType::f32);
  while (w.rank() < v.rank()) w = expand_dims(w, -1);
  w = broadcast_to(w, v.shape());
  s.set("total", total + sum(v * w));
  s.set("count", count + sum(w));
}

double MeanOfSamples::result(std::span<const Tensor> states) {
  const double count = states[1].item();
  return count == 0 ? 0 : states[0].item() / count;
}

}  // namespace plimsoll
