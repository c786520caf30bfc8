#include "device/device_capabilities.h"

#include <bit>

#include "device/c_graph.h"
#include "device/plugin_library.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

class PluginCapabilities final : public Capabilities {
 public:
  PluginCapabilities(const plimsoll_device_table& table, plimsoll_device* device)
      : table_(table), device_(device) {
    plimsoll_limits limits{};
    limits.size = sizeof limits;
    plimsoll_error error{};
    if (const int32_t kind = table.device_limits(device, &limits, &error); kind != PLIMSOLL_OK) {
      error.kind = kind;
      throw_plugin_error(table.name, error);
    }
    if (limits.fused_nodes > 0) limits_.fused_nodes = static_cast<size_t>(limits.fused_nodes);
    if (limits.fused_arguments > 0)
      limits_.fused_inputs = limits_.fused_arguments = static_cast<size_t>(limits.fused_arguments);
    limits_.joins = limits.joins != 0;
    if (limits.alignment <= limits_.alignment) return;
    require(limits.alignment <= (1 << 20) && std::has_single_bit(static_cast<uint64_t>(limits.alignment)),
            table.name, "expected an alignment that is a power of two, got ", limits.alignment);
    limits_.alignment = limits.alignment;
  }

  bool runs(const OpCall& call, std::span<const TensorType> out) const override {
    return ask(call, out).runs != 0;
  }
  Fuse fuses(const OpCall& call, std::span<const TensorType> out) const override {
    switch (ask(call, out).fuses) {
      case PLIMSOLL_FUSE_MAP: return Fuse::map;
      case PLIMSOLL_FUSE_FOLD: return Fuse::fold;
      default: return Fuse::no;
    }
  }
  uint64_t in_place(const OpCall& call, std::span<const TensorType> out, int index) const override {
    if (index >= 8) return 0;
    const uint64_t allowed = ask(call, out).in_place[index];
    const TensorType& type = out[static_cast<size_t>(index)];
    uint64_t mask = 0;
    for (size_t i = 0; i < std::min<size_t>(call.in.size(), 64); ++i) {
      const bool large_enough =
          byte_size(call.in[i].dtype, call.in[i].shape) >= byte_size(type.dtype, type.shape);
      if (large_enough) mask |= allowed & (uint64_t{1} << i);
    }
    return mask;
  }
  Limits limits() const override { return limits_; }

 private:
  // What it fails to answer, it cannot do.
  plimsoll_support ask(const OpCall& call, std::span<const TensorType> out) const {
    const CGraph graph(call, out);
    plimsoll_support support{};
    support.size = sizeof support;
    plimsoll_error error{};
    return table_.support(device_, graph.get(), 0, &support, &error) == PLIMSOLL_OK ? support
                                                                                    : plimsoll_support{};
  }

  const plimsoll_device_table& table_;
  plimsoll_device* const device_;
  Limits limits_;
};

}  // namespace

std::unique_ptr<Capabilities> device_capabilities(const plimsoll_device_table& table,
                                                  plimsoll_device* device) {
  return std::make_unique<PluginCapabilities>(table, device);
}

}  // namespace plimsoll
