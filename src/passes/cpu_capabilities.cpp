#include "passes/cpu_capabilities.h"

#include <algorithm>

#include "device/kernel.h"

namespace plimsoll {
namespace {

bool has_tile(const OpCall& call, const TensorType& out) {
  return call.op.tile != nullptr && call.op.tile(call.in, out, call.attrs).fn != nullptr;
}

bool is_fold(std::string_view op) { return op.starts_with("reduce_") && !op.starts_with("reduce_window"); }

class CpuCapabilities final : public Capabilities {
 public:
  bool runs(const OpCall& call, std::span<const TensorType> out) const override {
    const KernelQuery query{call.in, out, call.attrs};
    return call.op.tile ||
           std::ranges::any_of(call.op.kernels, [&](const KernelDef& k) { return !k.fits || k.fits(query); });
  }

  Fuse fuses(const OpCall& call, std::span<const TensorType> out) const override {
    const auto complex = [](const TensorType& t) { return is_complex(t.dtype); };
    if (std::ranges::any_of(call.in, complex) || out[0].shape.elements() == 0) return Fuse::no;
    if (is_fold(call.op.name) && call.in[0].shape.elements() > 0) return Fuse::fold;
    return has_tile(call, out[0]) ? Fuse::map : Fuse::no;
  }

  uint64_t in_place(const OpCall& call, std::span<const TensorType> out, int index) const override {
    return op_in_place(call, out, index);
  }
};

}  // namespace

const Capabilities& cpu_capabilities() {
  static const CpuCapabilities cpu;
  return cpu;
}

}  // namespace plimsoll
