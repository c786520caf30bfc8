// DeviceSteps: a planned graph on a device behind the Device interface. Ops the device has no kernel for
// become their parts (OpDef::decompose) before anything is planned. Arena, inputs, outputs, variables and
// constants have buffers on the device; a run copies the inputs and variables there, launches every step on
// one stream, and copies the outputs and the updated variables back: between runs the host's bytes are the
// ones that count, so that Programs on different devices may share variables.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "exec/steps.h"

namespace plimsoll {

class DeviceSteps final : public Steps {
 public:
  // Throws Error{unsupported} naming op and device if a node has neither a kernel nor parts that have.
  DeviceSteps(const Graph& graph, std::shared_ptr<Device> device, const PlanOptions& options);

  const Graph& graph() const override { return graph_; }
  const Plan& plan() const override { return plan_; }
  size_t size() const override { return steps_.size(); }
  bool parallel() const override { return false; }
  int64_t bytes() const override { return graph_bytes(graph_); }
  void run(void* const* inputs, void* const* outputs) override;
  void run_timed(void* const* inputs, void* const* outputs, std::span<double> seconds) override;
  std::string step_name(size_t step) const override;

 private:
  struct Step {
    NodeId node;
    std::vector<Slice> args;
  };
  struct Copy {
    Slice from, to;
    int64_t bytes;
  };

  int64_t scratch_bytes(NodeId node) const override { return kernels_[node].scratch; }
  std::vector<DeviceBuffer> buffers_of(const std::vector<ValueId>& values);
  void load_constants();
  void add_step(NodeId node);
  Slice slice(const Place& place) const;
  void copy_in(void* const* inputs);
  void copy_out(void* const* outputs);

  std::shared_ptr<Device> device_;
  Graph graph_;
  std::vector<DeviceKernel> kernels_;  // one per node; empty for those that do not run
  Plan plan_;
  Stream stream_;
  DeviceBuffer arena_;
  std::vector<DeviceBuffer> inputs_, outputs_, variables_;
  std::vector<DeviceBuffer> constants_;  // one per node; empty for all others
  std::vector<size_t> updated_;          // indices of variables
  std::vector<Step> steps_;
  std::vector<Copy> copies_;
};

}  // namespace plimsoll
