// Steps: a planned graph made ready, whatever it runs on. StepList is the one for the CPU, DeviceSteps the
// one for devices of plug-ins. Not thread-safe.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "plan/under_line.h"
#include "plimsoll/graph.h"
#include "plimsoll/program.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

// What a planned graph takes on the heap, about: the graph itself, its plan and its list of calls.
int64_t graph_bytes(const Graph& graph);
// Whether a run writes the variable.
bool is_updated(const Graph& graph, ValueId variable);
// "conv2d/conv [onednn brgconv:avx2]"
std::string name_of_step(const Node& node, const std::string& kernel);

// The most bytes an arena may have, given what the plan without a line needs and what the Program holds
// beside it; kNoLine: none.
using ArenaLine = std::function<int64_t(int64_t arena, int64_t program)>;
// By node of a graph with clones: whether an earlier node is the same one of the old graph.
std::vector<bool> repeated(std::span<const NodeId> from);

class Steps {
 public:
  virtual ~Steps() = default;
  virtual const Graph& graph() const = 0;
  virtual const Plan& plan() const = 0;
  // What the line did to it.
  virtual const LineReport& line() const = 0;
  virtual size_t size() const = 0;
  // That graph, plan, kernels and calls hold, about; and kernels in copies of weights, charged already.
  virtual int64_t bytes() const = 0;
  virtual int64_t kept() const { return 0; }
  // Concrete tensors of the right types, in the graph's order. Allocates nothing on the CPU.
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
  virtual int64_t scratch_bytes(NodeId node) const = 0;
};

}  // namespace plimsoll
