// Metrics that are the weighted mean of a number per sample (Keras's MeanMetricWrapper).
#pragma once

#include <memory>

#include "plimsoll/metrics.h"

namespace plimsoll {

class MeanOfSamples : public MetricBase {
 public:
  virtual Tensor values(const Tensor& y_true, const Tensor& y_pred) = 0;
  // (optional: undefined) Which values count where there are weights.
  virtual Tensor counted(const Tensor& /*y_true*/, const Tensor& /*y_pred*/) { return {}; }
  void update(MetricScope& s, const Tensor& y_true, const Tensor& y_pred, const Tensor& weight) override;
  double result(std::span<const Tensor> states) override;  // total / count, 0 if nothing was counted
};

template <class Options>
struct MeanWith : MeanOfSamples {
  explicit MeanWith(std::string_view default_name) { name = default_name; }
  Options o;
};

// Row: kClass, kName, values(y_true, y_pred).
template <class Row>
struct FunctionMetric final : MeanWith<MetricOptions> {
  FunctionMetric() : MeanWith(Row::kName) {}
  std::string_view class_name() const override { return Row::kClass; }
  Tensor values(const Tensor& y_true, const Tensor& y_pred) override { return Row::values(y_true, y_pred); }
};

template <class T, class Options>
Metric make_metric(const Options& options) {
  auto metric = std::make_shared<T>();
  metric->o = options;
  if (!options.name.empty()) metric->name = options.name;
  return metric;
}

template <class Row>
constexpr ClassDef function_metric_row() {
  return {Family::metric, Row::kClass, Row::kName, make_default<FunctionMetric<Row>>};
}

}  // namespace plimsoll
