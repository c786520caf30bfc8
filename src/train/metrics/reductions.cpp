// Mean and Sum of the predictions, correlations, and metrics from a function of your own.
#include <span>

#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"
#include "train/loss_functions.h"
#include "train/metrics/mean.h"
#include "train/reduction.h"

namespace plimsoll {
namespace {

struct PredictionRow {
  static constexpr std::string_view kClass = "Mean", kName = "mean";
  static Tensor values(const Tensor&, const Tensor& p) { return p; }
};

struct SumOfPredictions final : MetricBase {
  SumOfPredictions() { name = "sum"; }
  MetricOptions o;
  std::string_view class_name() const override { return "Sum"; }
  void update(MetricScope& s, const Tensor&, const Tensor& y_pred, const Tensor& weight) override {
    Tensor v = cast(y_pred, DType::f32);
    if (weight.defined()) {
      Tensor w;
      std::tie(v, w) = to_same_rank(v, cast(weight, DType::f32));
      while (w.rank() < v.rank()) w = expand_dims(w, -1);
      v = v * w;
    }
    s.set("total", s.state("total", Shape{}) + sum(v));
  }
  double result(std::span<const Tensor> states) override { return states[0].item(); }
};

struct Correlation : MeanWith<MetricCosineOptions> {
  using MeanWith::MeanWith;
  void fields(Fields& f) override {
    MetricBase::fields(f);
    f("axis", o.axis);
  }
  virtual Tensor correlation(const Tensor& y, const Tensor& p, const Ints& axis) const = 0;
  Tensor values(const Tensor& y_true, const Tensor& y_pred) override {
    const auto [y, p] = to_same_rank(cast(y_true, y_pred.dtype()), y_pred);
    return correlation(y, p, {o.axis});
  }
  static Tensor centred(const Tensor& x, const Ints& axis) { return x - mean(x, axis, true); }
};

struct Pearson final : Correlation {
  Pearson() : Correlation("pearson_correlation") {}
  std::string_view class_name() const override { return "PearsonCorrelation"; }
  Tensor correlation(const Tensor& y, const Tensor& p, const Ints& axis) const override {
    const auto unit = [&](const Tensor& x) {
      const Tensor c = centred(x, axis);
      return c / sqrt(variance(c, axis, true));
    };
    return mean(unit(y) * unit(p), axis);
  }
};

struct Concordance final : Correlation {
  Concordance() : Correlation("concordance_correlation") {}
  std::string_view class_name() const override { return "ConcordanceCorrelation"; }
  // As Keras has it: both factors of the covariance are taken from the mean of the predictions.
  Tensor correlation(const Tensor& y, const Tensor& p, const Ints& axis) const override {
    const Tensor y_mean = mean(y, axis, true), p_mean = mean(p, axis, true);
    const Tensor spread = variance(centred(y, axis), axis, true) + variance(centred(p, axis), axis, true) +
                          square(y_mean - p_mean);
    return mean(2.0 * (y - p_mean) * (p - p_mean) / (spread + kEpsilon), axis);
  }
};

struct OwnMetric final : MeanOfSamples {
  explicit OwnMetric(metrics::MetricFunction function) : function(std::move(function)) {
    name = "mean_metric_wrapper";
  }
  metrics::MetricFunction function;
  std::string_view class_name() const override { return "MeanMetricWrapper"; }
  Tensor values(const Tensor& y, const Tensor& p) override { return function(y, p); }
};

}  // namespace

namespace metrics {
Metric Mean(const MetricOptions& o) { return make_metric<FunctionMetric<PredictionRow>>(o); }
Metric Sum(const MetricOptions& o) { return make_metric<SumOfPredictions>(o); }
Metric PearsonCorrelation(const MetricCosineOptions& o) { return make_metric<Pearson>(o); }
Metric ConcordanceCorrelation(const MetricCosineOptions& o) { return make_metric<Concordance>(o); }
Metric MeanMetricWrapper(MetricFunction function, const MetricOptions& o) {
  require(bool(function), "MeanMetricWrapper", "expected a function, got none");
  auto made = std::make_shared<OwnMetric>(std::move(function));
  if (!o.name.empty()) made->name = o.name;
  return made;
}
}  // namespace metrics

std::span<const ClassDef> classes_reductions() {
  static constexpr ClassDef rows[] = {
      function_metric_row<PredictionRow>(),
      {Family::metric, "Sum", "sum", make_default<SumOfPredictions>},
      {Family::metric, "PearsonCorrelation", "pearson_correlation", make_default<Pearson>},
      {Family::metric, "ConcordanceCorrelation", "concordance_correlation", make_default<Concordance>},
  };
  return rows;
}

}  // namespace plimsoll
