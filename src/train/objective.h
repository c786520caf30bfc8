// Objective: the losses and metrics of a compiled model, output by output, as Keras's CompileLoss and
// CompileMetrics arrange and name them. Owned by a Trainer.
#pragma once

#include <string>
#include <vector>

#include "plimsoll/model.h"
#include "train/metric_state.h"

namespace plimsoll {

// What a traced step has for each output. weights: as many as outputs, one for all, or none.
struct StepTargets {
  std::vector<Tensor> y_true, y_pred, weights;
};

class Objective {
 public:
  // Throws Error{invalid_argument} naming the argument of compile() that does not fit the outputs.
  Objective(const CompileArgs& args, std::vector<std::string> output_names);

  struct Loss {
    Tensor minimized;  // a scalar
    Tensor logged;     // a scalar; differs only with the reduction "none"
  };
  // `extra` are the losses that layers and weights add.
  Loss trace_loss(Trace& trace, const StepTargets& targets, const std::vector<Tensor>& extra);
  void trace_metrics(Trace& trace, const StepTargets& targets);

  Logs logs() const;  // sorted by name, as Keras does
  void reset();
  std::vector<VariablePtr> states() const;

 private:
  struct Watched {
    size_t output;
    bool weighted;
    MetricState state;
  };
  void add_metrics(const std::vector<Metric>& flat, const PerOutput<std::vector<Metric>>& per_output,
                   bool weighted);
  std::string metric_name(size_t output, const std::string& name, bool weighted) const;
  bool has_name(const std::string& name) const;
  Tensor weight_of(const StepTargets& targets, size_t output) const;

  std::vector<std::string> names_;
  std::vector<plimsoll::Loss> losses_;  // of each output; may be none
  std::vector<double> loss_weights_;
  MetricState total_;
  std::vector<MetricState> output_losses_;  // where there are several losses
  std::vector<Watched> metrics_;
};

}  // namespace plimsoll
