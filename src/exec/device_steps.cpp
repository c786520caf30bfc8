#include "exec/device_steps.h"

#include <algorithm>
#include <chrono>

#include "graph/op.h"
#include "passes/passes.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

bool runs(const Node& node) { return !node.op->alias && node.op->name != "constant"; }

int64_t bytes_of(const Graph& graph, ValueId value) {
  const TensorType& type = graph.type(value);
  return byte_size(type.dtype, type.shape);
}

DeviceKernel prepare(Device& device, const Graph& graph, const Node& node) {
  std::vector<TensorType> in, out;
  for (const ValueId v : node.inputs) in.push_back(graph.type(v));
  for (const ValueId v : node.outputs) out.push_back(graph.type(v));
  return device.prepare({node.op->name, {in, out, node.attrs}, node.op->kernels});
}

bool has_kernel(Device& device, const Graph& graph, const Node& node) {
  try {
    prepare(device, graph, node);
    return true;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::unsupported) throw;
    return false;
  }
}

std::vector<DeviceKernel> prepare_all(Device& device, const Graph& graph) {
  std::vector<DeviceKernel> kernels(graph.nodes().size());
  for (size_t n = 0; n < kernels.size(); ++n) {
    if (runs(graph.nodes()[n])) kernels[n] = prepare(device, graph, graph.nodes()[n]);
  }
  return kernels;
}

std::vector<int64_t> scratch_sizes(const std::vector<DeviceKernel>& kernels) {
  std::vector<int64_t> sizes;
  sizes.reserve(kernels.size());
  for (const DeviceKernel& k : kernels) sizes.push_back(k.scratch);
  return sizes;
}

template <class T>
std::vector<ValueId> values_of(const std::vector<T>& list) {
  std::vector<ValueId> ids;
  for (const T& entry : list) ids.push_back(entry.value);
  return ids;
}

}  // namespace

DeviceSteps::DeviceSteps(const Graph& graph, std::shared_ptr<Device> device, const PlanOptions& options)
    : device_(std::move(device)),
      graph_(lower_where(
          graph, [&](const Graph& g, const Node& n) { return runs(n) && !has_kernel(*device_, g, n); })),
      kernels_(prepare_all(*device_, graph_)),
      plan_(Plan::make(graph_, scratch_sizes(kernels_), options)),
      stream_(device_->make_stream()),
      arena_(device_->allocate(plan_.arena_bytes())),
      inputs_(buffers_of(values_of(graph_.inputs()))),
      outputs_(buffers_of(values_of(graph_.outputs()))),
      variables_(buffers_of(values_of(graph_.variables()))) {
  load_constants();
  for (size_t i = 0; i < variables_.size(); ++i) {
    const auto writes_it = [&](const GraphUpdate& u) { return u.variable == graph_.variables()[i].value; };
    if (std::any_of(graph_.updates().begin(), graph_.updates().end(), writes_it)) updated_.push_back(i);
  }
  steps_.reserve(plan_.order().size());
  for (const NodeId node : plan_.order()) add_step(node);
  for (const PlanCopy& c : plan_.copies())
    copies_.push_back({slice(c.source), slice(c.to), bytes_of(graph_, c.from)});
}

std::vector<DeviceBuffer> DeviceSteps::buffers_of(const std::vector<ValueId>& values) {
  std::vector<DeviceBuffer> buffers;
  buffers.reserve(values.size());
  for (const ValueId v : values) buffers.push_back(device_->allocate(bytes_of(graph_, v)));
  return buffers;
}

void DeviceSteps::load_constants() {
  constants_.resize(graph_.nodes().size());
  for (size_t n = 0; n < constants_.size(); ++n) {
    const Node& node = graph_.nodes()[n];
    if (node.op->name != "constant") continue;
    constants_[n] = device_->allocate(bytes_of(graph_, node.outputs[0]));
    device_->copy_in(stream_, {&constants_[n], 0}, node.attrs.tensor("value").data(), constants_[n].bytes);
  }
  device_->sync(stream_);
}

Slice DeviceSteps::slice(const Place& place) const {
  const size_t index = static_cast<size_t>(place.at);
  switch (place.kind) {
    case Place::Kind::arena: return {&arena_, place.at};
    case Place::Kind::input: return {&inputs_[index], 0};
    case Place::Kind::output: return {&outputs_[index], 0};
    case Place::Kind::variable: return {&variables_[index], 0};
    case Place::Kind::constant: return {&constants_[index], 0};
    case Place::Kind::none: break;
  }
  return {&arena_, 0};  // a value of no bytes
}

void DeviceSteps::add_step(NodeId id) {
  const Node& node = graph_.node(id);
  Step step{id, {}};
  for (const ValueId v : node.inputs) step.args.push_back(slice(plan_.place(v)));
  for (const ValueId v : node.outputs) step.args.push_back(slice(plan_.place(v)));
  if (kernels_[id].scratch > 0) step.args.push_back({&arena_, plan_.scratch(id)});
  steps_.push_back(std::move(step));
}

void DeviceSteps::copy_in(void* const* inputs) {
  for (size_t i = 0; i < inputs_.size(); ++i)
    device_->copy_in(stream_, {&inputs_[i], 0}, inputs[i], inputs_[i].bytes);
  for (size_t i = 0; i < variables_.size(); ++i) {
    device_->copy_in(stream_, {&variables_[i], 0}, graph_.variables()[i].storage.data(), variables_[i].bytes);
  }
}

void DeviceSteps::copy_out(void* const* outputs) {
  for (const Copy& c : copies_) device_->copy(stream_, c.to, c.from, c.bytes);
  for (size_t i = 0; i < outputs_.size(); ++i) {
    device_->copy_out(stream_, outputs[i], {&outputs_[i], 0}, outputs_[i].bytes);
  }
  // What failed so far must not reach the variables.
  device_->sync(stream_);
  for (const size_t i : updated_) {
    device_->copy_out(stream_, graph_.variables()[i].storage.data(), {&variables_[i], 0},
                      variables_[i].bytes);
  }
  device_->sync(stream_);
}

void DeviceSteps::run(void* const* inputs, void* const* outputs) {
  copy_in(inputs);
  for (const Step& step : steps_) device_->launch(stream_, kernels_[step.node], step.args);
  copy_out(outputs);
}

void DeviceSteps::run_timed(void* const* inputs, void* const* outputs, std::span<double> seconds) {
  using Clock = std::chrono::steady_clock;
  copy_in(inputs);
  for (size_t i = 0; i < steps_.size(); ++i) {
    device_->sync(stream_);
    const auto start = Clock::now();
    device_->launch(stream_, kernels_[steps_[i].node], steps_[i].args);
    device_->sync(stream_);
    seconds[i] += std::chrono::duration<double>(Clock::now() - start).count();
  }
  copy_out(outputs);
}

std::string DeviceSteps::step_name(size_t i) const {
  const Node& node = graph_.node(steps_[i].node);
  return concat(node.layer, node.layer.empty() ? "" : "/", node.op->name, " [", kernels_[steps_[i].node].name,
                "]");
}

}  // namespace plimsoll
