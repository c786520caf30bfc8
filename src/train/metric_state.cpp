#include "train/metric_state.h"

#include <cstring>

#include "plimsoll/error.h"
#include "train/optimizer_state.h"
#include "train/reduction.h"

namespace plimsoll {

class TracedMetric final : public MetricScope {
 public:
  TracedMetric(MetricState& state, Trace& trace) : state_(state), trace_(trace) {}
  Tensor state(std::string_view name, const Shape& shape) override {
    VariablePtr variable = find(name);
    if (variable == nullptr) {
      variable = std::make_shared<Variable>(
          Variable{.name = std::string(name), .value = make_state(DType::f32, shape, 0), .trainable = false});
      state_.states_.push_back(variable);
      state_.values_.push_back(variable->value);
    }
    require(variable->value.shape() == shape, state_.name_, "began with shape ", variable->value.shape(),
            ", this batch asks for ", shape);
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

void MetricState::update(Trace& trace, const Tensor& y_true, const Tensor& y_pred, const Tensor& weight,
                         const Tensor& mask) {
  TracedMetric scope(*this, trace);
  scope.mask = mask;
  metric_->update(scope, y_true, y_pred, weight);
}

void MetricState::add_to_mean(Trace& trace, const Tensor& value, const Tensor& weight) {
  TracedMetric scope(*this, trace);
  plimsoll::add_to_mean(scope, value, weight);
}

double MetricState::result() const {
  if (values_.empty()) return 0;
  if (metric_) return metric_->result(values_);
  const double count = values_[1].item();
  return count == 0 ? 0 : values_[0].item() / count;
}

void MetricState::reset() {
  for (const Tensor& v : values_)
    std::memset(v.data(), 0, static_cast<size_t>(byte_size(v.dtype(), v.shape())));
}

}  // namespace plimsoll
