// MetricState: a metric of a compiled model with its sums, which live in variables that steps update.
#pragma once

#include <string>
#include <vector>

#include "layers/base/trace.h"
#include "plimsoll/metrics.h"

namespace plimsoll {

class MetricState {
 public:
  // Without a metric: the mean of what is added, as Keras tracks losses.
  MetricState(std::string name, Metric metric) : name_(std::move(name)), metric_(std::move(metric)) {}

  // `mask` (optional: undefined) is of the predictions.
  void update(Trace& trace, const Tensor& y_true, const Tensor& y_pred, const Tensor& weight,
              const Tensor& mask);
  void add_to_mean(Trace& trace, const Tensor& value, const Tensor& weight);
  double result() const;
  void reset();

  const std::string& name() const { return name_; }
  const Metric& metric() const { return metric_; }
  const std::vector<VariablePtr>& states() const { return states_; }

 private:
  friend class TracedMetric;
  std::string name_;
  Metric metric_;
  std::vector<VariablePtr> states_;
  std::vector<Tensor> values_;  // of the states
};

}  // namespace plimsoll
