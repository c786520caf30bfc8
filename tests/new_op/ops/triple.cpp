// triple(x): 3 x. An op that is nowhere else: this file alone makes it exist.
#include "device/kernel.h"
#include "graph/grad.h"
#include "graph/op.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  require(call.in[0].dtype == DType::f32, "triple", "expected float32, got ", call.in[0]);
  return {call.in[0]};
}

void grad(GradContext& g) { g.set(0, apply1(get_op("triple"), {g.dout()})); }

void run(const int64_t& count, void* const* args) {
  const float* x = static_cast<const float*>(args[0]);
  float* y = static_cast<float*>(args[1]);
  for (int64_t i = 0; i < count; ++i) y[i] = 3 * x[i];
}

Kernel prepare(const KernelQuery& q) { return make_kernel<int64_t, run>("loop", q.in[0].shape.elements()); }

}  // namespace

std::span<const OpDef> ops_triple() {
  static constexpr KernelDef kernels[] = {{.name = "reference", .prepare = prepare}};
  static constexpr OpDef defs[] = {
      {.name = "triple", .arity = {1, 1}, .infer = infer, .grad = grad, .kernels = kernels}};
  return defs;
}

}  // namespace plimsoll
