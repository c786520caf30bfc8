#include "exec/device_steps.h"

#include "exec/prepare.h"
#include "memory/buffer.h"
#include "passes/passes.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

// The bytes of a tensor on the device.
class Resident final : public DeviceCopy {
 public:
  Resident(std::shared_ptr<Device> device, int64_t bytes, Owner owner)
      : device_(std::move(device)), bytes_(bytes), buffer_(device_->allocate(bytes, owner)) {}

  const void* device() const override { return device_.get(); }
  void fetch(void* to) override { device_->download(to, buffer_, bytes_); }
  const DeviceBuffer& buffer() const { return buffer_; }
  // Of the device, when the host's bytes were last copied here.
  uint64_t failures = 0;

 private:
  std::shared_ptr<Device> device_;
  int64_t bytes_;
  DeviceBuffer buffer_;
};

int64_t bytes_of(const Tensor& tensor) { return byte_size(tensor.dtype(), tensor.shape()); }

Resident& copy_on(const std::shared_ptr<Device>& device, const Tensor& tensor) {
  Buffer& bytes = *tensor.buffer();
  if (DeviceCopy* copy = bytes.copy_on(device.get())) return static_cast<Resident&>(*copy);
  return static_cast<Resident&>(
      bytes.add_copy(std::make_unique<Resident>(device, bytes_of(tensor), bytes.owner())));
}

const DeviceBuffer& variable(const std::shared_ptr<Device>& device, const Tensor& tensor) {
  Buffer& bytes = *tensor.buffer();
  Resident& copy = copy_on(device, tensor);
  const bool arrived = bytes.is_away() || copy.failures == device->failures();
  if (!bytes.is_current(copy) || !arrived) {
    copy.failures = device->failures();
    device->upload(copy.buffer(), bytes.data(), bytes_of(tensor));
    bytes.copied_to(copy);
  }
  return copy.buffer();
}

void check_runs(const Graph& graph, const Device& device) {
  for (const Node& node : graph.nodes()) {
    if (!has_code(node)) continue;
    const NodeCall n(graph, node);
    if (device.capabilities().runs(n.call(), n.out)) continue;
    fail(ErrorKind::unsupported, node.op->name, "no code of ", device.name(), " for (", types_text(n.in),
         ")");
  }
}

}  // namespace

// The device compiles the graph once more with the nodes in it that run again.
void DeviceSteps::make_fit(Code& code, Device& device, const PlanOptions& options, int64_t line,
                           std::span<const DeviceProgram::Part> parts) {
  LinePlan made = plan_under(code.graph, std::move(code.plan), code.program->scratch(), options, line);
  code.line = made.report;
  if (made.cloned) {
    code.again = repeated(made.cloned->from);
    code.graph = std::move(made.cloned->graph);
    code.program = nullptr;
    code.program = device.compile(code.graph, parts);
  }
  code.plan = std::move(made.plan);
}

DeviceSteps::Code DeviceSteps::make_code(Graph graph, Device& device, PlanOptions options, Use use,
                                         const ArenaLine& line) {
  options.can = &device.capabilities();
  check_runs(graph, device);
  Code code{std::move(graph), {}, nullptr, {}};
  std::vector<DeviceProgram::Part> parts;
  for (const Node& node : code.graph.nodes()) {
    if (node.op->name == "fused") continue;  // the device looks into the body itself
    for (const auto& [name, value] : node.attrs) {
      const auto* body = std::get_if<std::shared_ptr<const Graph>>(&value);
      if (!body || !*body) continue;
      code.parts.push_back(std::make_unique<Code>(
          make_code(run_passes(**body, {}, device.capabilities()), device, options, Use::part, nullptr)));
      const Code& part = *code.parts.back();
      parts.push_back({body->get(), part.program.get(), part.plan.arena_bytes()});
    }
  }
  code.program = device.compile(code.graph, parts);
  code.plan = Plan::make(code.graph, code.program->scratch(), options);
  make_fit(code, device, options, line ? line(code.plan.arena_bytes(), 0) : kNoLine, parts);
  if (use != Use::forecast) code.program->place(code.graph, code.plan, use == Use::whole);
  return code;
}

DeviceSteps::DeviceSteps(Graph graph, std::shared_ptr<Device> device, const PlanOptions& options,
                         const ArenaLine& line, bool ready)
    : device_(std::move(device)),
      code_(make_code(std::move(graph), *device_, options, ready ? Use::whole : Use::forecast, line)),
      places_(code_.graph.inputs().size()) {
  for (size_t i = 0; i < code_.graph.variables().size(); ++i) {
    if (is_updated(code_.graph, code_.graph.variables()[i].value)) updated_.push_back(i);
  }
}

const DeviceBuffer& DeviceSteps::input(size_t i, const Tensor& tensor) {
  Buffer& bytes = *tensor.buffer();
  if (const DeviceCopy* copy = bytes.copy_on(device_.get()); copy && bytes.is_current(*copy))
    return static_cast<const Resident*>(copy)->buffer();
  DeviceBuffer& place = places_[i][turn_];
  if (!place) place = device_->allocate(bytes_of(tensor), Owner::data);
  device_->upload(place, bytes.data(), bytes_of(tensor));
  return place;
}

DeviceRun DeviceSteps::bind(std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
  turn_ ^= 1;
  inputs_.clear();
  outputs_.clear();
  variables_.clear();
  for (const GraphVariable& v : graph().variables()) variables_.push_back(&variable(device_, v.storage));
  for (size_t i = 0; i < inputs.size(); ++i) inputs_.push_back(&input(i, inputs[i]));
  for (const Tensor& t : outputs) outputs_.push_back(&copy_on(device_, t).buffer());
  return {inputs_, outputs_, variables_};
}

void DeviceSteps::written(const Tensor& tensor) {
  Buffer& bytes = *tensor.buffer();
  bytes.written_on(copy_on(device_, tensor));
  if (bytes.exposed()) (void)bytes.data();  // someone may look without asking
}

void DeviceSteps::finish(std::span<const Tensor> outputs) {
  for (const size_t i : updated_) written(graph().variables()[i].storage);
  for (const Tensor& t : outputs) written(t);
}

void DeviceSteps::run(std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
  device_->run(*code_.program, bind(inputs, outputs));
  finish(outputs);
}

void DeviceSteps::run_timed(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                            std::span<double> seconds) {
  std::vector<double> by_node(graph().nodes().size(), 0.0);
  device_->profile(*code_.program, bind(inputs, outputs), by_node);
  finish(outputs);
  for (size_t i = 0; i < size(); ++i) seconds[i] += by_node[plan().order()[i]];
}

std::string DeviceSteps::step_name(size_t i) const {
  const NodeId id = plan().order()[i];
  return name_of_step(graph().node(id), code_.program->kernel_name(id));
}

}  // namespace plimsoll
