// OptimizerState: what an optimizer keeps between steps, and its update of all weights in a traced step.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "layers/base/trace.h"
#include "memory/charge.h"
#include "plimsoll/optimizers.h"
#include "train/nan_gate.h"
#include "train/optimizers/loss_scale.h"

namespace plimsoll {

class OptimizerState {
 public:
  explicit OptimizerState(Optimizer optimizer);

  // Makes the slots of weights that have none yet.
  void build(std::span<const VariablePtr> weights);
  // Large slots are in files in this folder (memory/spill.h), those to come and those there are. Returns
  // whether any has moved. Throws as spill::make(); then all is as before.
  bool spill_to(const std::string& folder);
  bool is_spilled(const Variable& slot) const;
  // What of spilled slots is resident at a time: those of the weight that is being updated, at most.
  int64_t spill_window() const;
  // The loss whose gradients apply() expects: scaled, where the optimizer is to scale it. Requires: build().
  Tensor scaled(Trace& trace, const Tensor& loss) const;
  // Whether all gradients must be there before the first update, whatever watches: they are clipped or
  // summed.
  bool needs_all() const;
  // Adds the update of every weight to the trace. gradients[i] belongs to weights[i]; with a gate, only what
  // it lets through changes. Requires: build(weights).
  void apply(Trace& trace, std::span<const VariablePtr> weights, std::span<const Tensor> gradients,
             const NanGate& gate = {});
  // Keras's finalize_variable_values: with an EMA, weights become their averages.
  void finalize(std::span<const VariablePtr> weights);
  // With an EMA: weights and their averages change places, or the averages become the weights.
  void swap_averages(std::span<const VariablePtr> weights);
  void keep_averages(std::span<const VariablePtr> weights);

  double learning_rate() const;  // of the next step
  // Throws Error{invalid_argument} if a schedule decides.
  void set_learning_rate(double rate);

  // The one that updates: inside a LossScaleOptimizer, where there is one.
  const Optimizer& optimizer() const { return optimizer_; }
  const LossScale* loss_scale() const { return loss_scale_.get(); }  // nullptr: none
  const VariablePtr& iterations() const { return iterations_; }
  // In Keras's order: those of the LossScaleOptimizer, then inner_variables().
  std::vector<VariablePtr> variables() const;
  // iterations, learning_rate (without a schedule), then the slots.
  std::vector<VariablePtr> inner_variables() const;
  // Of variables(), those there are before build().
  std::vector<VariablePtr> first_variables() const;
  // How many of variables() are not slots.
  size_t scalar_count() const;

 private:
  friend class TracedUpdate;
  struct Step;
  void add_state(std::span<const VariablePtr> weights);
  bool spills(int64_t bytes) const;
  Tensor make_slot(DType dtype, const Shape& shape, double value) const;
  void charge_window();
  void add_slot(const Variable& weight, const SlotDef& def);
  VariablePtr slot(const Variable& weight, std::string_view name) const;
  VariablePtr scalar(std::string_view name) const;
  bool clips() const;
  void clip(std::vector<Tensor>& gradients) const;
  void apply_inner(Step step, std::span<const VariablePtr> weights, std::vector<Tensor> gradients,
                   const NanGate& gate);
  void accumulate(Step& step, std::span<const VariablePtr> weights, std::vector<Tensor>& gradients) const;
  void adapt_scale(Trace& trace, const Tensor& finite) const;
  Tensor updated(const Step& step, const VariablePtr& weight, const Tensor& gradient);
  bool decays(const Variable& weight) const;

  std::shared_ptr<const LossScale> loss_scale_;
  VariablePtr scale_iterations_, scale_rate_;  // which Keras keeps and never changes
  VariablePtr step_counter_, dynamic_scale_;   // made by build()
  Optimizer optimizer_;
  VariablePtr iterations_, learning_rate_;
  std::vector<VariablePtr> slots_, scalars_;
  std::string spill_;  // a folder; empty: none
  std::shared_ptr<Charge> window_;
  std::map<std::pair<const Variable*, std::string>, VariablePtr> slot_of_;
};

// A tensor charged to the account as Owner::state; under PlannedState it has no memory.
Tensor make_state(DType dtype, const Shape& shape, double value);

}  // namespace plimsoll
