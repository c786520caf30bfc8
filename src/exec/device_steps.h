// DeviceSteps: a planned graph on a device of a plug-in. Variables stay on the device between runs and are
// fetched when the host reads them; so do outputs. Inputs are copied there unless they are there already, in
// turns into one of two places, so that the next batch is on its way while a run goes on. run() returns when
// the run is queued; what fails later is thrown by whoever reads a result.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "exec/steps.h"

namespace plimsoll {

class DeviceSteps final : public Steps {
 public:
  // Requires: passes have run for this device. Throws Error{unsupported} naming op and device if there is a
  // node that it has no code for. Memory is planned; little is taken before make_ready().
  DeviceSteps(Graph graph, std::shared_ptr<Device> device, const PlanOptions& options);

  const Graph& graph() const override { return code_.graph; }
  const Plan& plan() const override { return code_.plan; }
  bool runs_again(size_t step) const override {
    return !code_.again.empty() && code_.again[plan().order()[step]];
  }
  int64_t bytes() const override { return graph_bytes(graph().nodes().size()); }
  std::vector<int64_t> scratch() const override;
  void repeat(ExecPlan execs) override;
  void make_ready() override;
  Graph take_graph() override { return std::move(code_.graph); }
  void run(std::span<const Tensor> inputs, std::span<const Tensor> outputs) override;
  void run_timed(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                 std::span<double> seconds) override;
  std::string step_name(size_t step) const override;

 private:
  // A graph with the sub-graphs of its nodes, made ready and planned.
  struct Code {
    Graph graph;
    std::vector<std::unique_ptr<Code>> parts;
    std::unique_ptr<DeviceProgram> program;
    Plan plan;
    std::vector<bool> again = {};                       // by node; empty: none
    std::vector<DeviceProgram::Part> programs() const;  // of the parts
    std::vector<const Graph*> bodies = {};              // of the parts, as nodes name them
  };
  static Code make_code(Graph graph, Device& device, PlanOptions options, bool part);

  DeviceRun bind(std::span<const Tensor> inputs, std::span<const Tensor> outputs);
  const DeviceBuffer& input(size_t i, const Tensor& tensor);
  void written(const Tensor& tensor);
  void finish(std::span<const Tensor> outputs);
  bool steady();

  std::shared_ptr<Device> device_;
  Code code_;
  std::vector<std::array<DeviceBuffer, 2>> places_;  // of inputs
  size_t turn_ = 0;
  std::vector<const DeviceBuffer*> inputs_, outputs_, variables_;  // of the run being queued
  std::vector<size_t> updated_;                                    // indices of variables
  std::vector<uint64_t> versions_;  // of variables in the last run, and the device's failures
};

}  // namespace plimsoll
