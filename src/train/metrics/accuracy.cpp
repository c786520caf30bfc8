// Accuracies: the share of predictions that are right.
#include <span>

#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"
#include "train/loss_functions.h"
#include "train/metrics/mean.h"
#include "train/reduction.h"

namespace plimsoll {
namespace {

Tensor as_number(const Tensor& right) { return cast(right, DType::f32); }

Tensor equal_values(const Tensor& y_true, const Tensor& y_pred) {
  const auto [y, p] = to_same_rank(cast(y_true, y_pred.dtype()), y_pred);
  return as_number(equal(y, p));
}

Tensor binary_accuracy(const Tensor& y_true, const Tensor& y_pred, double threshold) {
  const auto [y, p] = to_same_rank(y_true, y_pred);
  return as_number(equal(y, cast(greater(p, scalar_like(p, threshold)), y.dtype())));
}

Tensor class_labels(const Tensor& y_true, const Tensor& y_pred) {
  const Tensor labels = y_true.rank() == y_pred.rank() && y_true.dim(-1) == 1 ? squeeze(y_true, -1) : y_true;
  return cast(labels, DType::i32);
}

Tensor sparse_accuracy(const Tensor& y_true, const Tensor& y_pred) {
  return as_number(equal(class_labels(y_true, y_pred), argmax(y_pred, -1)));
}

Tensor categorical_accuracy(const Tensor& y_true, const Tensor& y_pred) {
  return as_number(equal(argmax(y_true, -1), argmax(y_pred, -1)));
}

// Fewer than k classes have a larger score than the right one: equal scores count in favour, as in Keras.
Tensor in_top_k(const Tensor& labels, const Tensor& y_pred, int64_t k) {
  const Tensor score = take_along_axis(y_pred, expand_dims(labels, -1), -1);
  const Tensor larger = sum(cast(greater(y_pred, score), DType::f32), {-1});
  return as_number(less(larger, scalar_like(larger, static_cast<double>(k))));
}

struct AccuracyRow {
  static constexpr std::string_view kClass = "Accuracy", kName = "accuracy";
  static Tensor values(const Tensor& y, const Tensor& p) { return equal_values(y, p); }
};
struct CategoricalAccuracyRow {
  static constexpr std::string_view kClass = "CategoricalAccuracy", kName = "categorical_accuracy";
  static Tensor values(const Tensor& y, const Tensor& p) { return categorical_accuracy(y, p); }
};
struct SparseCategoricalAccuracyRow {
  static constexpr std::string_view kClass = "SparseCategoricalAccuracy",
                                    kName = "sparse_categorical_accuracy";
  static Tensor values(const Tensor& y, const Tensor& p) { return sparse_accuracy(y, p); }
};

// What Keras means by the string "accuracy" or "acc": the shapes decide. Files keep the string.
struct ByShapesRow {
  static constexpr std::string_view kClass = "accuracy", kName = "acc";
  static Tensor values(const Tensor& y, const Tensor& p) {
    switch (kind_of_targets(y, p)) {
      case Targets::binary: return binary_accuracy(y, p, 0.5);
      case Targets::sparse: return sparse_accuracy(y, p);
      case Targets::categorical: break;
    }
    return categorical_accuracy(y, p);
  }
};

struct BinaryAccuracyMetric final : MeanWith<ThresholdOptions> {
  BinaryAccuracyMetric() : MeanWith("binary_accuracy") {}
  std::string_view class_name() const override { return "BinaryAccuracy"; }
  void fields(Fields& f) override {
    MetricBase::fields(f);
    f("threshold", o.threshold);
  }
  Tensor values(const Tensor& y, const Tensor& p) override { return binary_accuracy(y, p, o.threshold); }
};

struct TopK final : MeanWith<TopKOptions> {
  TopK() : MeanWith("top_k_categorical_accuracy") {}
  std::string_view class_name() const override { return "TopKCategoricalAccuracy"; }
  void fields(Fields& f) override {
    MetricBase::fields(f);
    f("k", o.k);
  }
  Tensor values(const Tensor& y, const Tensor& p) override { return in_top_k(argmax(y, -1), p, o.k); }
};

struct SparseTopK final : MeanWith<TopKOptions> {
  SparseTopK() : MeanWith("sparse_top_k_categorical_accuracy") {}
  std::string_view class_name() const override { return "SparseTopKCategoricalAccuracy"; }
  void fields(Fields& f) override {
    MetricBase::fields(f);
    f("k", o.k);
  }
  Tensor values(const Tensor& y, const Tensor& p) override { return in_top_k(class_labels(y, p), p, o.k); }
};

}  // namespace

void MetricBase::fields(Fields& f) {
  f("name", name);
  std::string dtype = "float32";  // whatever a config says, states are float32
  f("dtype", dtype);
}

void MeanOfSamples::update(MetricScope& s, const Tensor& y_true, const Tensor& y_pred, const Tensor& weight) {
  const Tensor w = apply_mask(weight, s.mask, DType::f32, "sum");
  add_to_mean(s, values(y_true, y_pred), w, w.defined() ? counted(y_true, y_pred) : Tensor());
}

double MeanOfSamples::result(std::span<const Tensor> states) {
  const double count = states[1].item();
  return count == 0 ? 0 : states[0].item() / count;
}

namespace metrics {
Metric Accuracy(const MetricOptions& o) { return make_metric<FunctionMetric<AccuracyRow>>(o); }
Metric CategoricalAccuracy(const MetricOptions& o) {
  return make_metric<FunctionMetric<CategoricalAccuracyRow>>(o);
}
Metric SparseCategoricalAccuracy(const MetricOptions& o) {
  return make_metric<FunctionMetric<SparseCategoricalAccuracyRow>>(o);
}
Metric BinaryAccuracy(const ThresholdOptions& o) { return make_metric<BinaryAccuracyMetric>(o); }
Metric TopKCategoricalAccuracy(const TopKOptions& o) { return make_metric<TopK>(o); }
Metric SparseTopKCategoricalAccuracy(const TopKOptions& o) { return make_metric<SparseTopK>(o); }
}  // namespace metrics

std::span<const ClassDef> classes_accuracy() {
  static constexpr ClassDef rows[] = {
      {Family::metric, "Accuracy", "", make_default<FunctionMetric<AccuracyRow>>},
      function_metric_row<ByShapesRow>(),
      function_metric_row<CategoricalAccuracyRow>(),
      function_metric_row<SparseCategoricalAccuracyRow>(),
      {Family::metric, "BinaryAccuracy", "binary_accuracy", make_default<BinaryAccuracyMetric>},
      {Family::metric, "TopKCategoricalAccuracy", "top_k_categorical_accuracy", make_default<TopK>},
      {Family::metric, "SparseTopKCategoricalAccuracy", "sparse_top_k_categorical_accuracy",
       make_default<SparseTopK>},
  };
  return rows;
}

}  // namespace plimsoll
