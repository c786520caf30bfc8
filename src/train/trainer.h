// Trainer: a network with a loss, an optimizer and metrics, and the programs of its steps. One program per kind of step
// and types of a batch; all share one arena. Owned by a ModelBody.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "layers/base/functional.h"
#include "plimsoll/model.h"
#include "plimsoll/program.h"
#include "train/metric_state.h"
#include "train/optimizer_state.h"

namespace plimsoll {

enum class StepKind { train, test, predict };

class Trainer {
 public:
  // Not compiled: only predict works.
  explicit Trainer(Layer network);
  void compile(const CompileArgs& args);
  bool compiled() const { return optimizer_ != nullptr; }

  // One step over the batch. Throws before anything is changed if the batch does not fit the model.
  void step(StepKind kind, const Batch& batch);
  std::vector<Tensor> predict(std::span<const Tensor> x);
  Logs logs() const;  // loss and metrics since reset_metrics()
  void reset_metrics();
  double last_loss() const { return last_loss_; }

  const Layer& network() const { return network_; }
  OptimizerState& optimizer() const { return *optimizer_; }
  const CompileArgs& args() const { return args_; }

 private:
  using Key = std::pair<StepKind, std::vector<std::string>>;
  Program& program(StepKind kind, const Batch& batch);
  Program make_program(StepKind kind, const Batch& batch);
  Tensor trace_losses(Trace& trace, const std::vector<Tensor>& y_true, const std::vector<Tensor>& y_pred,
                      const std::vector<Tensor>& weights);
  void make_metrics(size_t outputs);
  Metric resolve_metric(const Metric& metric, size_t output) const;

  Layer network_;
  CompileArgs args_;
  std::unique_ptr<OptimizerState> optimizer_;
  std::vector<Loss> losses_;
  std::optional<MetricState> loss_mean_;
  std::vector<std::pair<size_t, MetricState>> metrics_;  // with the output they look at
  std::shared_ptr<Arena> arena_;
  std::map<Key, Program> programs_;
  std::vector<Tensor> inputs_, outputs_;  // of the step that runs
  double last_loss_ = 0;
};

}  // namespace plimsoll
