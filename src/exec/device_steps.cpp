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

std::vector<DeviceProgram::Part> DeviceSteps::Code::programs() const {
  std::vector<DeviceProgram::Part> list;
  for (size_t i = 0; i < parts.size(); ++i)
    list.push_back({bodies[i], parts[i]->program.get(), parts[i]->plan.arena_bytes()});
  return list;
}

DeviceSteps::Code DeviceSteps::make_code(Graph graph, Device& device, PlanOptions options, bool part) {
  options.can = &device.capabilities();
  check_runs(graph, device);
  Code code{std::move(graph), {}, nullptr, {}};
  for (const Node& node : code.graph.nodes()) {
    if (node.op->name == "fused") continue;  // the device looks into the body itself
    for (const auto& [name, value] : node.attrs) {
      const auto* body = std::get_if<std::shared_ptr<const Graph>>(&value);
      if (!body || !*body) continue;
      code.parts.push_back(std::make_unique<Code>(
          make_code(run_passes(**body, {}, device.capabilities()), device, options, true)));
      code.bodies.push_back(body->get());
    }
  }
  code.program = device.compile(code.graph, code.programs());
  code.plan = Plan::make(code.graph, code.program->scratch(), options);
  if (part) code.program->place(code.graph, code.plan, false);
  return code;
}

DeviceSteps::DeviceSteps(Graph graph, std::shared_ptr<Device> device, const PlanOptions& options)
    : device_(std::move(device)),
      code_(make_code(std::move(graph), *device_, options, false)),
      places_(code_.graph.inputs().size()) {
  for (size_t i = 0; i < code_.graph.variables().size(); ++i) {
    if (is_updated(code_.graph, code_.graph.variables()[i].value)) updated_.push_back(i);
  }
}

std::vector<int64_t> DeviceSteps::scratch() const {
  const std::span<const int64_t> bytes = code_.program->scratch();
  return {bytes.begin(), bytes.end()};
}

// The device compiles the graph once more with the nodes in it that run again.
void DeviceSteps::repeat(ExecPlan execs) {
  code_.again = repeated(execs.cloned.from);
  code_.graph = std::move(execs.cloned.graph);
  code_.plan = std::move(execs.plan);
  code_.program = nullptr;
  code_.program = device_->compile(code_.graph, code_.programs());
}

void DeviceSteps::make_ready() { code_.program->place(code_.graph, code_.plan, true); }

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
  return {inputs_, outputs_, variables_, steady()};
}

// Whether variables are what they were when this was asked last. Those that someone may write without saying
// so count as changed.
bool DeviceSteps::steady() {
  bool same = !versions_.empty() && versions_.back() == device_->failures();
  versions_.resize(graph().variables().size() + 1);
  for (size_t i = 0; i + 1 < versions_.size(); ++i) {
    const Buffer& bytes = *graph().variables()[i].storage.buffer();
    same = same && !bytes.exposed() && versions_[i] == bytes.version();
    versions_[i] = bytes.version();
  }
  versions_.back() = device_->failures();
  return same;
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
