// StepList: a planned graph as a flat list of ready calls of the CPU's kernels. Running it allocates nothing,
// looks nothing up and takes no lock. It owns the kernels and the constants; the arena, inputs and outputs
// are given from outside. Not thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device/kernel.h"
#include "exec/beat.h"
#include "exec/steps.h"

namespace plimsoll {

class Buffer;

struct StepOptions {
  int threads = 1;
  bool reference_kernels = false;
  bool poison = false;
  PlanOptions plan;
};

class StepList final : public Steps {
 public:
  // Prepares kernels and plans memory. Requires: passes have run.
  StepList(Graph graph, const StepOptions& options);

  const Graph& graph() const override { return graph_; }
  const Plan& plan() const override { return plan_; }
  bool runs_again(size_t step) const override { return !again_.empty() && again_[plan_.order()[step]]; }
  int64_t bytes() const override;
  int64_t kept() const override;
  std::vector<int64_t> scratch() const override;
  void repeat(ExecPlan execs) override;
  void make_ready() override;
  Graph take_graph() override { return std::move(graph_); }

  // Requires: ready. Sets where the arena lies; plan().arena_bytes() bytes from there are used.
  void bind_arena(void* base);
  // Requires: the arena is bound.
  void run(std::span<const Tensor> inputs, std::span<const Tensor> outputs) override;
  void run_timed(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                 std::span<double> seconds) override;
  // One pointer per input and output: the body of a loop or a branch.
  void run(void* const* inputs, void* const* outputs);
  bool replay(std::span<const Tensor> inputs, std::span<const Tensor> outputs, const Look& look) override;
  std::string step_name(size_t step) const override;

 private:
  struct Step {
    Kernel::Run run;
    const void* state;
    uint32_t first_arg;
    NodeId node;
  };
  struct Patch {  // args_[arg] = inputs[index] or outputs[index]
    uint32_t arg;
    uint32_t index;
  };
  struct ArenaArg {
    uint32_t arg;
    int64_t offset;
  };
  struct BoundCopy {
    uint32_t from, to;  // args
    size_t bytes;
    bool spilled;  // what is written
  };
  struct LetGo {  // of a spilled variable, when this step has run: the last that works with it
    size_t step;
    void* address;
    int64_t bytes;
  };

  template <class F>
  void each_kernel(F f) const;
  void add_step(NodeId node);
  void find_spilled();
  size_t let_go_after(size_t step, size_t next) const;
  void copy_updates();
  uint32_t add_arg(const Place& place);
  uint32_t add_arena_arg(int64_t offset);
  void bind(std::span<const Tensor> inputs, std::span<const Tensor> outputs);
  void patch(void* const* inputs, void* const* outputs);
  void run_steps(std::atomic<uint32_t>& beat);
  void run_recorded(KernelRecorder& recorder);
  bool writes_variable(const Node& node) const;
  void poison_dead(size_t step);

  Graph graph_;
  bool parallel_ = false;        // before the kernels, whose making sets it
  std::vector<Kernel> kernels_;  // one per node; empty for those that do not run
  Plan plan_;
  std::vector<bool> again_;  // by node; empty: none
  std::vector<Step> steps_;
  std::vector<void*> args_;
  std::vector<Patch> input_patches_, output_patches_;
  std::vector<ArenaArg> arena_args_;
  std::vector<BoundCopy> copies_;
  std::vector<LetGo> let_go_;                 // by step
  std::vector<Buffer*> variables_, updated_;  // those that a run reads or writes, and writes
  std::vector<void*> in_, out_;               // of the run
  char* arena_ = nullptr;
  bool poison_ = false;
};

}  // namespace plimsoll
