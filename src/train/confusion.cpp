#include "train/confusion.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"
#include "train/loss_functions.h"

namespace plimsoll {
namespace {

constexpr double kFarDown = -1e10;  // Keras's NEG_INF

// Scores outside the k largest of each row go far down; the first of equals is taken.
Tensor keep_top_k(const Tensor& x, int64_t k) {
  Tensor rest = x;
  Tensor kept = x * 0.0;
  for (int64_t i = 0; i < std::min(k, x.dim(-1)); ++i) {
    const Tensor chosen = one_hot(argmax(rest, -1), x.dim(-1), x.dtype());
    kept = kept + chosen;
    rest = where(cast(chosen, DType::boolean), scalar_like(x, -std::numeric_limits<float>::infinity()), rest);
  }
  return x * kept + kFarDown * (1.0 - kept);
}

Tensor column(const Tensor& x, int64_t index) {
  require(x.rank() >= 2 && index >= 0 && index < x.dim(-1), "metric", "class_id ", index,
          " needs predictions with that class, got shape ", x.shape());
  Ints starts(static_cast<size_t>(x.rank()), 0);
  Ints limits(x.shape().begin(), x.shape().end());
  starts.back() = index;
  limits.back() = index + 1;
  return slice(x, starts, limits);
}

struct Samples {
  Tensor label, score, weight;  // of one shape; label 0 or 1; weight may be undefined
};

Samples prepare(const Tensor& y_true, const Tensor& y_pred, const Tensor& weight, const ConfusionArgs& a) {
  Samples s;
  std::tie(s.score, s.label) = to_same_rank(cast(y_pred, DType::f32), cast(y_true, DType::f32));
  require(s.score.shape() == s.label.shape(), "metric", "expected targets of the shape of the predictions ",
          s.score.shape(), ", got ", s.label.shape());
  if (weight.defined()) {
    s.weight = to_same_rank(s.label, expand_dims(cast(weight, DType::f32), -1), false).second;
    s.weight = broadcast_to(s.weight, s.score.shape());
  }
  if (a.top_k) s.score = keep_top_k(s.score, *a.top_k);
  if (a.class_id) {
    s.label = column(s.label, *a.class_id);
    s.score = column(s.score, *a.class_id);
    if (s.weight.defined()) s.weight = column(s.weight, *a.class_id);
  }
  if (!a.label_weights.empty() && !a.multi_label) {
    const std::vector<float> values(a.label_weights.begin(), a.label_weights.end());
    const Tensor labels = broadcast_to(Tensor::from<float>(values, {std::ssize(values)}), s.score.shape());
    s.weight = s.weight.defined() ? s.weight * labels : labels;
  }
  s.label = cast(cast(s.label, DType::boolean), DType::f32);
  if (!a.multi_label) {
    const Shape flat{s.score.shape().elements(), 1};
    s = {reshape(s.label, flat), reshape(s.score, flat),
         s.weight.defined() ? reshape(s.weight, flat) : Tensor()};
  }
  require(s.score.rank() == 2, "metric", "multi_label needs predictions (batch, labels), got shape ",
          s.score.shape());
  return s;
}

struct Counts {
  Tensor tp, fp;  // (thresholds, labels)
};

Counts count_each(const Tensor& positive, const Tensor& negative, const Tensor& score,
                  const ConfusionArgs& a) {
  const std::vector<float> values(a.thresholds.begin(), a.thresholds.end());
  const Tensor thresholds = Tensor::from<float>(values, {std::ssize(values), 1, 1});
  const Tensor above = cast(greater(expand_dims(score, 0), thresholds), DType::f32);
  return {sum(above * expand_dims(positive, 0), {1}), sum(above * expand_dims(negative, 0), {1})};
}

// One pass: each sample falls into the bucket below its score; the counts are sums from the top.
Counts count_buckets(const Tensor& positive, const Tensor& negative, const Tensor& score,
                     const ConfusionArgs& a) {
  const int64_t n = a.even;
  const int64_t labels = score.dim(1);
  Tensor bucket = ceil(clip(score, 0, 1) * static_cast<double>(n - 1)) - 1.0;
  if (a.clip_first) bucket = relu(bucket);
  const Tensor row = cast(bucket, DType::i32);
  const Tensor at[] = {expand_dims(row, -1), iota(DType::i32, {score.dim(0), labels, 1}, 1)};
  const Tensor indices = concatenate(at, -1);
  const auto counted = [&](const Tensor& x) {
    return cumsum(scatter_nd(Tensor::zeros(DType::f32, {n, labels}), indices, x, "add"), 0, true);
  };
  return {counted(positive), counted(negative)};
}

}  // namespace

bool is_even(const std::vector<double>& thresholds) {
  const auto n = static_cast<double>(thresholds.size());
  if (n < 3) return false;
  for (size_t i = 0; i < thresholds.size(); ++i) {
    const double even = static_cast<double>(i) / (n - 1);
    if (std::abs(thresholds[i] - even) > kEpsilon + 1e-5 * std::abs(even)) return false;
  }
  return true;
}

void add_to_confusion(MetricScope& s, const std::vector<std::string_view>& states, const Tensor& y_true,
                      const Tensor& y_pred, const Tensor& weight, const ConfusionArgs& a) {
  const Samples x = prepare(y_true, y_pred, weight, a);
  Tensor positive = x.label;
  Tensor negative = 1.0 - x.label;
  if (x.weight.defined()) {
    positive = positive * x.weight;
    negative = negative * x.weight;
  }
  const Counts c = a.even != 0 ? count_buckets(positive, negative, x.score, a)
                               : count_each(positive, negative, x.score, a);
  const int64_t n = a.even != 0 ? a.even : std::ssize(a.thresholds);
  const Shape shape = a.multi_label ? Shape{n, x.score.dim(1)} : Shape{n};
  for (const std::string_view name : states) {
    Tensor counts = name == "true_positives" ? c.tp : c.fp;
    if (name == "true_negatives") counts = sum(negative, {0}, true) - c.fp;
    if (name == "false_negatives") counts = sum(positive, {0}, true) - c.tp;
    s.set(name, s.state(name, shape) + reshape(counts, shape));
  }
}

}  // namespace plimsoll
