#include <array>

#include "device/c_graph.h"
#include "device/device_call.h"
#include "device/plugin_library.h"
#include "plan/plan.h"
#include "plimsoll/contents.h"
#include "plimsoll/error.h"

namespace plimsoll {

DeviceProgram::DeviceProgram(std::shared_ptr<Device> device, const Graph& graph, std::span<const Part> parts)
    : device_(std::move(device)), scratch_(graph.nodes().size(), 0) {
  for (const Node& node : graph.nodes()) names_.push_back(node_name(node));
  const CGraph c(graph, parts);
  plimsoll_error error = no_error();
  object_ = device_->table_.program_compile(device_->device_, c.get(), scratch_.data(), &error);
  if (!object_) {
    const auto node = static_cast<size_t>(error.node);
    if (error.node >= 0 && node < names_.size()) throw_plugin_error(names_[node], error);
    device_->throw_error(error);
  }
  const std::lock_guard lock(device_->mutex_);
  device_->programs_[object_] = this;
}

DeviceProgram::~DeviceProgram() {
  if (!object_) return;
  const std::lock_guard lock(device_->mutex_);
  device_->programs_.erase(object_);
  device_->wait_for_runs();
  device_->table_.program_destroy(object_);
  if (arena_bytes_ > 0) device_->shrink_arena();
}

void DeviceProgram::load_constants(const Graph& graph) {
  constants_.resize(graph.nodes().size());
  for (size_t n = 0; n < constants_.size(); ++n) {
    const Node& node = graph.nodes()[n];
    if (node.op->name != "constant") continue;
    const Tensor& value = node.attrs.tensor("value");
    const int64_t bytes = byte_size(value.dtype(), value.shape());
    const void* const from = read_bytes(value);
    constants_[n] = device_->allocate(bytes, Owner::programs);
    device_->upload(constants_[n], from, bytes);
  }
}

// Bytes that may be spared: under a line, and where there is no room, it does without.
void DeviceProgram::allocate_kept() {
  if (!device_->table_.program_kept || device_->account().limit() != account::kNoLimit) return;
  const int64_t bytes = device_->table_.program_kept(object_);
  if (bytes <= 0) return;
  try {
    kept_ = device_->allocate(bytes, Owner::weights);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::out_of_memory) throw;
  }
}

namespace {

plimsoll_place to_c(const Place& place) {
  static_assert(static_cast<int>(Place::Kind::arena) == PLIMSOLL_PLACE_ARENA &&
                static_cast<int>(Place::Kind::input) == PLIMSOLL_PLACE_INPUT &&
                static_cast<int>(Place::Kind::variable) == PLIMSOLL_PLACE_VARIABLE &&
                static_cast<int>(Place::Kind::constant) == PLIMSOLL_PLACE_CONSTANT &&
                static_cast<int>(Place::Kind::output) == PLIMSOLL_PLACE_OUTPUT);
  return {static_cast<int32_t>(place.kind), place.at};
}

// A plan as the struct of the interface.
struct CPlan {
  CPlan(const Graph& graph, const Plan& plan, std::span<const DeviceBuffer> buffers) {
    order.assign(plan.order().begin(), plan.order().end());
    for (ValueId v = 0; v < graph.values().size(); ++v) places.push_back(to_c(plan.place(v)));
    for (NodeId n = 0; n < graph.nodes().size(); ++n) scratch.push_back(plan.scratch(n));
    for (const PlanCopy& c : plan.copies()) {
      const TensorType& type = graph.type(c.from);
      copies.push_back({to_c(c.source), to_c(c.to), byte_size(type.dtype, type.shape)});
    }
    for (const DeviceBuffer& b : buffers) constants.push_back(b.slice());
    get.size = sizeof get;
    get.order = order.data();
    get.order_count = static_cast<int32_t>(order.size());
    get.places = places.data();
    get.scratch = scratch.data();
    get.copies = copies.data();
    get.copy_count = static_cast<int32_t>(copies.size());
    get.arena_bytes = plan.arena_bytes();
    get.constants = constants.data();
  }

  std::vector<int32_t> order;
  std::vector<plimsoll_place> places;
  std::vector<int64_t> scratch;
  std::vector<plimsoll_place_copy> copies;
  std::vector<plimsoll_slice> constants;
  plimsoll_plan get{};
};

}  // namespace

void DeviceProgram::place(const Graph& graph, const Plan& plan, bool whole) {
  load_constants(graph);
  if (whole) allocate_kept();
  CPlan c(graph, plan, constants_);
  c.get.kept = kept_.slice();
  device_->call([&](plimsoll_error* e) { return device_->table_.program_plan(object_, &c.get, e); });
  if (!whole) return;
  const std::lock_guard lock(device_->mutex_);
  arena_bytes_ = plan.arena_bytes();
  try {
    device_->fit_arena();
  } catch (...) {
    arena_bytes_ = 0;
    throw;
  }
}

std::string DeviceProgram::kernel_name(NodeId node) const {
  std::array<char, 256> text{};
  device_->call([&](plimsoll_error* e) {
    return device_->table_.program_kernel_name(object_, static_cast<int32_t>(node), text.data(), text.size(),
                                               e);
  });
  text.back() = 0;
  return text.data();
}

}  // namespace plimsoll
