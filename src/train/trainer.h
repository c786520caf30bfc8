// Trainer: a network with a loss, an optimizer and metrics, and the programs of its steps. One program per
// kind of step and types of a batch; all share one arena, and those not used for long are given up. Owned by
// a ModelBody. One thread at a time: step(), predict(), prepare() and compile() refuse a second one.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "exec/choices.h"
#include "exec/kept.h"
#include "layers/base/functional.h"
#include "layers/base/index_ranges.h"
#include "memory/budget.h"
#include "memory/in_use.h"
#include "plimsoll/model.h"
#include "plimsoll/program.h"
#include "train/nan_gate.h"
#include "train/objective.h"
#include "train/optimizer_state.h"

namespace plimsoll {

enum class StepKind { train, test, predict };

// The types of a batch's tensors.
struct BatchTypes {
  std::vector<TensorType> x, y, weights;
  static BatchTypes of(const Batch& batch);
  static BatchTypes of(const RecordTypes& record, int64_t batch_size);
  int64_t charge() const;  // what the account takes for tensors of these types
  bool operator==(const BatchTypes&) const = default;
};

// The ways to run one kind of step.
struct StepChoices {
  StepKind kind;
  BatchTypes types;
  CompileOptions options;
  std::unique_ptr<Choices> choices;
  int64_t state = 0;          // what the optimizer's variables and the sums of metrics are charged
  int64_t state_to_come = 0;  // of these, the ones that are not there yet
  int64_t there = 0;          // what the program that there is holds with its constants; 0: none
  int64_t results = 0;        // of predict: what a step hands out
};

// How the programs of a Trainer are made.
struct TrainerPlan {
  // What their arena may have; those that are planned otherwise are made anew. kNoLimit: what the lines
  // around leave when one is made.
  int64_t arena_line = account::kNoLimit;
  bool micro_batch = false;  // a batch may be cut
  struct Step {
    StepKind kind;
    BatchTypes types;
    std::shared_ptr<const Recipe> recipe;
  };
  std::vector<Step> steps = {};  // those that were looked at
};

class Trainer {
 public:
  // Not compiled: only predict works.
  explicit Trainer(Layer network);
  void compile(const CompileArgs& args);
  bool compiled() const { return optimizer_ != nullptr; }
  // Its layers are others now: what was made for the old ones goes, the optimizer's state with it.
  void network_changed();

  // One step over the batch. Throws before anything is changed if the batch does not fit the model.
  void step(StepKind kind, const Batch& batch);
  std::vector<Tensor> predict(std::span<const Tensor> x);
  // Makes the program of such steps ready, and with it every variable they use.
  void prepare(StepKind kind, const BatchTypes& types);
  // Large slots of the optimizer are in files in this folder from now on. Throws as spill::make().
  void spill_to(const std::string& folder);
  // What prepare() has to choose from, the batch cut where that is allowed. Nothing changes but that a
  // network whose input was not known is built. Its programs are never run: their state has no bytes.
  StepChoices choices(StepKind kind, const BatchTypes& types, bool micro_batch) const;
  // Of the programs from now on; those there are that are planned otherwise go.
  void set_plan(TrainerPlan plan);
  // For tests: batches are cut into so many ranges, line or not.
  void set_parts(int64_t parts);
  // Of the programs from now on.
  void set_threads(int threads);
  void set_device(const std::string& name);
  // What they run on; nullptr: the CPU.
  const std::shared_ptr<Device>& device() const;
  // From now on training steps change nothing that is not finite; see finite().
  void set_nan_watching(NanWatching watching) { watching_ = watching; }
  // Whether the numbers of the last training step were; true if nobody watched.
  bool finite() const { return finite_; }
  // Where those of this batch come from, after a step that was not finite.
  NonFinite find_nonfinite(const Batch& batch);
  // The weight of each class in training steps from now on; empty: none.
  void set_class_weight(const std::map<int64_t, double>& weights);
  Logs logs() const;  // loss and metrics since reset_metrics()
  void reset_metrics();
  double last_loss() const { return last_loss_; }
  // Of the last step, by its plan; 0: not known.
  double expected_seconds() const { return expected_seconds_; }

  const Layer& network() const { return network_; }
  OptimizerState& optimizer() const { return *optimizer_; }
  // The sums of loss and metrics; none before the first step.
  std::vector<VariablePtr> metric_states() const;
  const CompileArgs& args() const { return args_; }
  const Arena& arena() const { return *arena_; }
  // While held, no other thread's charges take programs away (Kept::hold).
  void hold_programs(bool on) { programs_.hold(on); }
  // What the programs, their arena and the state take counts here, for as long as it is held.
  Budget& budget() const { return *budget_; }

 private:
  struct Ready {
    StepKind kind;
    BatchTypes types;
    NanWatching watching;
    Program program;
    std::vector<IndexRange> ranges;
    int64_t bytes() const;  // that giving it up brings
  };
  using Programs = Kept<Ready>;
  // What a step changes beside the weights.
  struct Parts {
    OptimizerState* optimizer;              // nullptr: not compiled
    std::unique_ptr<Objective>& objective;  // made when there is none
  };
  // `bytes` (optional): what it holds with its constants.
  bool has_program(StepKind kind, const BatchTypes& types, int64_t* bytes = nullptr) const;
  // nullptr: this step was not looked at.
  std::shared_ptr<const Recipe> planned(StepKind kind, const BatchTypes& types) const;
  Programs::Loan program(StepKind kind, const Batch& batch);
  Programs::Loan make_program(StepKind kind, BatchTypes types);
  void forget_programs();
  void trace_step(Trace& trace, StepKind kind, const BatchTypes& types, const Parts& parts) const;
  // A step that is planned. Copies share the variables there are; those it would add are the copies' alone.
  struct Traced {
    std::shared_ptr<Graph> graph;
    std::optional<OptimizerState> optimizer;
    std::unique_ptr<Objective> objective;
  };
  Traced trace_to_plan(StepKind kind, const BatchTypes& types) const;
  void gate_updates(Trace& trace, const Tensor& applies, const Objective& objective) const;
  // Returns whether the step's numbers are finite; undefined: nobody watches.
  Tensor trace_update(Trace& trace, const Parts& parts, std::span<const VariablePtr> weights,
                      const Tensor& loss, std::span<const Tensor> grads) const;
  CompileOptions compile_options() const;
  NanWatching watching(StepKind kind) const { return kind == StepKind::train ? watching_ : NanWatching::off; }
  void put_inputs(const Batch& batch);
  Tensor class_weights(const Tensor& y) const;
  const Network& net() const { return static_cast<const Network&>(*network_); }

  Layer network_;
  CompileArgs args_;
  std::unique_ptr<OptimizerState> optimizer_;
  std::unique_ptr<Objective> objective_;  // made with the first program
  std::map<int64_t, double> class_weight_;
  std::shared_ptr<Budget> budget_;
  std::shared_ptr<Arena> arena_;
  TrainerPlan plan_;
  int64_t parts_ = 0;
  Programs programs_;
  InUse in_use_;
  mutable std::optional<std::shared_ptr<Device>> device_;  // empty: not looked for yet
  std::vector<Tensor> inputs_, outputs_;                   // of the step that runs
  double last_loss_ = 0, expected_seconds_ = 0;
  NanWatching watching_ = NanWatching::off;
  bool finite_ = true;
};

}  // namespace plimsoll
