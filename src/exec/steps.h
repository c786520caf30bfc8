// Steps: a planned graph, whatever it runs on: looked at once it is made, run once it is ready. StepList is
// the one for the CPU, DeviceSteps the one for devices of plug-ins. Not thread-safe.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "plan/ladder.h"
#include "plimsoll/graph.h"
#include "plimsoll/program.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

// What a planned graph takes on the heap, about: the graph itself, its plan and its list of calls.
int64_t graph_bytes(size_t nodes);
// Whether a run writes the variable.
bool is_updated(const Graph& graph, ValueId variable);
// "conv2d/conv [onednn brgconv:avx2]"
std::string name_of_step(const Node& node, const std::string& kernel);

// By node of a graph with clones: whether an earlier node is the same one of the old graph.
std::vector<bool> repeated(std::span<const NodeId> from);

class Steps {
 public:
  virtual ~Steps() = default;
  virtual const Graph& graph() const = 0;
  virtual const Plan& plan() const = 0;
  size_t size() const { return plan().order().size(); }
  // That graph, plan, kernels and calls hold, about; and kernels in copies of weights, charged already.
  virtual int64_t bytes() const = 0;
  virtual int64_t kept() const { return 0; }
  // Of a run, by its plan; 0: not known.
  double expected_seconds() const { return expected_seconds_; }
  void set_expected_seconds(double seconds) { expected_seconds_ = seconds; }
  // Bytes that the kernels of the nodes want.
  virtual std::vector<int64_t> scratch() const = 0;
  // What runs from now on: plan_execs() of this graph. Before make_ready().
  virtual void repeat(ExecPlan execs) = 0;
  virtual void make_ready() = 0;
  // The graph alone; nothing else may be asked of these steps then.
  virtual Graph take_graph() = 0;
  // Requires: ready. Concrete tensors of the right types, in the graph's order. Allocates nothing on the CPU.
  virtual void run(std::span<const Tensor> inputs, std::span<const Tensor> outputs) = 0;
  // The same, adding the seconds each step took to `seconds` (one entry per step).
  virtual void run_timed(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                         std::span<double> seconds) = 0;
  virtual std::string step_name(size_t step) const = 0;

  // Runs the steps one after the other, and tells where the arguments of each lie, inputs before outputs,
  // before it runs and after. Those that write a variable are left out, so that nothing changes but
  // `outputs`. Ends when `look` says false. False if what it runs on cannot do that.
  using Look = std::function<bool(size_t step, void* const* args, bool after)>;
  virtual bool replay(std::span<const Tensor> inputs, std::span<const Tensor> outputs, const Look& look) {
    (void)inputs, (void)outputs, (void)look;
    return false;
  }

  // All steps with kernels, offsets and scratch, for people.
  std::string text() const;
  std::vector<ArenaSpan> timeline() const;
  // By step: whether its node has run before.
  virtual bool runs_again(size_t step) const = 0;

 protected:
  Steps() = default;
  Steps(const Steps&) = default;
  Steps& operator=(const Steps&) = default;

 private:
  double expected_seconds_ = 0;
};

}  // namespace plimsoll
