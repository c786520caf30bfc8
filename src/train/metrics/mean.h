// A metric that is the weighted mean of a number per sample.
#pragma once

#include "plimsoll/metrics.h"

namespace plimsoll {

// Adds values (weighted) to the states "total" and "count", as Keras's Mean does.
void add_to_mean(MetricScope& s, const Tensor& values, const Tensor& weight);

class MeanOfSamples : public MetricBase {
 public:
  virtual Tensor values(const Tensor& y_true, const Tensor& y_pred) = 0;
  void update(MetricScope& s, const Tensor& y_true, const Tensor& y_pred, const Tensor& weight) override {
    add_to_mean(s, values(y_true, y_pred), weight);
  }
  double result(std::span<const Tensor> states) override;  // total / count, 0 if nothing was counted
};

}  // namespace plimsoll
