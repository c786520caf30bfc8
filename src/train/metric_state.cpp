#include "train/metric_state.h"

#include <cstring>

#include "plimsoll/error.h"
#include "train/metrics/mean.h"

namespace plimsoll {

class TracedMetric final : public MetricScope {
 public:
  TracedMetric(MetricState& state, Trace& trace) : state_(state), trace_(trace) {}
  Tensor state(std::string_view name, const Shape& shape) override {
    VariablePtr variable = find(name);
    if (variable == nullptr) {
      variable = std::make_shared<Variable>(
          Variable{.name = std::string(name), .value = Tensor::zeros(DType::f32, shape), .trainable = false});
      state_.states_.push_back(variable);
    }
    return trace_.value(variable);
  }
  void set(std::string_view name, const Tensor& next) override { trace_.update(find(name), next); }

 private:
  VariablePtr find(std::string_view name) const {
    for (const VariablePtr& v : state_.states_) {
      if (v->name == name) return v;
    }
    return nullptr;
  }
  MetricState& state_;
  Trace& trace_;
};

void MetricState::update(Trace& trace, const Tensor& y_true, const Tensor& y_pred, const Tensor& weight) {
  TracedMetric scope(*this, trace);
  metric_->update(scope, y_true, y_pred, weight);
}

void MetricState::add_to_mean(Trace& trace, const Tensor& value, const Tensor& weight) {
  TracedMetric scope(*this, trace);
  plimsoll::add_to_mean(scope, value, weight);
}

double MetricState::result() const {
  std::vector<Tensor> values;
  for (const VariablePtr& v : states_) values.push_back(v->value);
  if (values.empty()) return 0;
  if (metric_) return metric_->result(values);
  const double count = values[1].item();
  return count == 0 ? 0 : values[0].item() / count;
}

void MetricState::reset() {
  for (const VariablePtr& v : states_) {
    std::memset(v->value.data(), 0, static_cast<size_t>(byte_size(v->value.dtype(), v->value.shape())));
  }
}

}  // namespace plimsoll
