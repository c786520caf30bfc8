// OptimizerState: what an optimizer keeps between steps, and its update of all weights in a traced step.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "layers/base/trace.h"
#include "plimsoll/optimizers.h"

namespace plimsoll {

class OptimizerState {
 public:
  explicit OptimizerState(Optimizer optimizer);

  // Adds the update of every weight to the trace. gradients[i] belongs to weights[i].
  void apply(Trace& trace, std::span<const VariablePtr> weights, std::span<const Tensor> gradients);

  const Optimizer& optimizer() const { return optimizer_; }
  const VariablePtr& iterations() const { return iterations_; }
  const VariablePtr& learning_rate() const { return learning_rate_; }
  // iterations, learning_rate, then the slots, in Keras's order.
  std::vector<VariablePtr> variables() const;

 private:
  friend class TracedUpdate;
  VariablePtr slot(const Variable& weight, std::string_view name, const Initializer& initializer);

  Optimizer optimizer_;
  VariablePtr iterations_, learning_rate_;
  std::vector<VariablePtr> slots_;
  std::map<std::pair<const Variable*, std::string>, VariablePtr> slot_of_;
};

}  // namespace plimsoll
