// Metrics: numbers kept over the batches of an epoch:  model.compile({.metrics = {"accuracy", AUC()}})
#pragma once

#include <span>

#include "plimsoll/config.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

// Where a metric keeps its sums while a step is traced.
class MetricScope {
 public:
  virtual ~MetricScope() = default;
  // Zero at the start of an epoch. Asked again after set(), it is the new value.
  virtual Tensor state(std::string_view name, const Shape& shape) = 0;
  virtual void set(std::string_view name, const Tensor& next) = 0;
};

class MetricBase : public Configurable {
 public:
  static constexpr Family kFamily = Family::metric;
  // Adds a batch to the states. `weight` (optional: undefined) is per sample.
  virtual void update(MetricScope& s, const Tensor& y_true, const Tensor& y_pred, const Tensor& weight) = 0;
  // From the concrete states, in the order they were first asked for.
  virtual double result(std::span<const Tensor> states) = 0;

  std::string name;  // as in History; empty: the alias
};
using Metric = Ref<MetricBase>;

}  // namespace plimsoll
