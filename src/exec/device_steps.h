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
  // node that it has no code for. `ready`: else memory is planned, but little is taken and it cannot run.
  DeviceSteps(Graph graph, std::shared_ptr<Device> device, const PlanOptions& options, const ArenaLine& line,
              bool ready = true);

  const Graph& graph() const override { return code_.graph; }
  const Plan& plan() const override { return code_.plan; }
  const LineReport& line() const override { return code_.line; }
  bool runs_again(size_t step) const override {
    return !code_.again.empty() && code_.again[plan().order()[step]];
  }
  size_t size() const override { return plan().order().size(); }
  int64_t bytes() const override { return graph_bytes(graph()); }
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
    LineReport line = {};
    std::vector<bool> again = {};  // by node; empty: none
  };
  enum class Use { whole, part, forecast };
  static Code make_code(Graph graph, Device& device, PlanOptions options, Use use, const ArenaLine& line);
  static void make_fit(Code& code, Device& device, const PlanOptions& options, int64_t line,
                       std::span<const DeviceProgram::Part> parts);

  int64_t scratch_bytes(NodeId node) const override { return code_.program->scratch()[node]; }
  DeviceRun bind(std::span<const Tensor> inputs, std::span<const Tensor> outputs);
  const DeviceBuffer& input(size_t i, const Tensor& tensor);
  void written(const Tensor& tensor);
  void finish(std::span<const Tensor> outputs);

  std::shared_ptr<Device> device_;
  Code code_;
  std::vector<std::array<DeviceBuffer, 2>> places_;  // of inputs
  size_t turn_ = 0;
  std::vector<const DeviceBuffer*> inputs_, outputs_, variables_;  // of the run being queued
  std::vector<size_t> updated_;                                    // indices of variables
};

}  // namespace plimsoll
