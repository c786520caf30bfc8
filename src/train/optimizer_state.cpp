#include "train/optimizer_state.h"

#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"

namespace plimsoll {

class TracedUpdate final : public UpdateScope {
 public:
  TracedUpdate(OptimizerState& state, Trace& trace, const Variable& variable)
      : state_(state), trace_(trace), variable_(variable) {}
  Tensor slot(std::string_view name, const Initializer& initializer) override {
    return trace_.value(state_.slot(variable_, name, initializer));
  }
  void set_slot(std::string_view name, const Tensor& next) override {
    trace_.update(state_.slot(variable_, name, {}), next);
  }

 private:
  OptimizerState& state_;
  Trace& trace_;
  const Variable& variable_;
};

OptimizerState::OptimizerState(Optimizer optimizer) : optimizer_(std::move(optimizer)) {
  require(bool(optimizer_), "optimizer", "expected an optimizer, got none");
  iterations_ = std::make_shared<Variable>(
      Variable{.name = "iterations", .value = Tensor::zeros(DType::i64, {}), .trainable = false});
  learning_rate_ = std::make_shared<Variable>(
      Variable{.name = "learning_rate", .value = Tensor::full(DType::f32, {}, optimizer_->learning_rate.rate), .trainable = false});
}

VariablePtr OptimizerState::slot(const Variable& weight, std::string_view name, const Initializer& initializer) {
  VariablePtr& slot = slot_of_[{&weight, std::string(name)}];
  if (slot == nullptr) {
    slot = std::make_shared<Variable>(Variable{.name = concat(weight.name, "_", name),
                                               .value = initializer->make(weight.value.shape(), weight.value.dtype()),
                                               .trainable = false});
    slots_.push_back(slot);
  }
  return slot;
}

void OptimizerState::apply(Trace& trace, std::span<const VariablePtr> weights, std::span<const Tensor> gradients) {
  const Tensor step = trace.value(iterations_);
  const Schedule& schedule = optimizer_->learning_rate.schedule;
  const Tensor rate = schedule ? schedule->rate(cast(step, DType::f32)) : trace.value(learning_rate_);
  for (size_t i = 0; i < weights.size(); ++i) {
    TracedUpdate scope(*this, trace, *weights[i]);
    scope.weight = trace.value(weights[i]);
    scope.gradient = gradients[i];
    scope.learning_rate = cast(rate, scope.weight.dtype());
    scope.step = step;
    Tensor next = optimizer_->update(scope);
    if (weights[i]->constraint) next = weights[i]->constraint->apply(next);
    trace.update(weights[i], next);
  }
  trace.update(iterations_, step + 1.0);
}

std::vector<VariablePtr> OptimizerState::variables() const {
  std::vector<VariablePtr> all = {iterations_, learning_rate_};
  all.insert(all.end(), slots_.begin(), slots_.end());
  return all;
}

}  // namespace plimsoll
