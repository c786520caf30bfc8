// sgd_update(w, grad, learning_rate[, velocity]): one step of gradient descent with the formulas of Keras 3:
// plain, with momentum, or with Nesterov's. The new weight and velocity may take the bytes of the old ones.
#include "device/cpu/optimizer_kernels.h"
#include "ops/optimizer_ops.h"

namespace plimsoll {
namespace {

constexpr AttrDef kAttrs[] = {{"momentum", AttrKind::real, "0.0"}, {"nesterov", AttrKind::boolean, "false"}};

std::vector<TensorType> infer(const OpCall& c) {
  require_float(c, 0, "a weight");
  require_gradient(c, 1, c.in[0].shape);
  require_scalar(c, 2, "learning_rate", false);
  const bool momentum = c.attrs.real("momentum") != 0;
  require(c.in.size() == (momentum ? 4u : 3u), c.op.name,
          "expected a velocity if and only if momentum is not 0, got ", c.in.size(), " inputs");
  if (momentum) require_like_weight(c, 3, "velocity");
  return std::vector<TensorType>(momentum ? 2 : 1, c.in[0]);
}

struct State {
  UpdateTypes types;
  DType rate_dtype;
  double momentum;
  bool nesterov;
  int64_t n;
  int threads;
};
void run(const State& s, void* const* a) {
  const double rate = read_real(s.rate_dtype, a[2]);
  const SgdArgs args = s.momentum != 0 ? SgdArgs{a[0], a[1], a[3], rate, a[4], a[5]}
                                       : SgdArgs{a[0], a[1], nullptr, rate, a[3], nullptr};
  sgd_step(s.types, s.momentum, s.nesterov, args, s.n, s.threads);
}
Kernel prepare(const KernelQuery& q) {
  return make_kernel<State, run>("highway sgd", {{q.in[0].dtype, q.in[1].dtype},
                                                 q.in[2].dtype,
                                                 q.attrs.real("momentum"),
                                                 q.attrs.flag("nesterov"),
                                                 q.in[0].shape.elements(),
                                                 q.threads});
}

std::vector<Tensor> decompose(std::span<const Tensor> in, const Attrs& attrs) {
  const DType dtype = in[0].dtype();
  const Tensor w = wide(in[0]), grad = wide(in[1]);
  const Tensor step = grad * narrow(in[2], grad.dtype());
  const double momentum = attrs.real("momentum");
  if (momentum == 0) return {narrow(w - step, dtype)};
  const Tensor velocity = wide(in[3]) * momentum - step;
  const Tensor move = attrs.flag("nesterov") ? velocity * momentum - step : velocity;
  return {narrow(w + move, dtype), narrow(velocity, dtype)};
}

uint64_t in_place(const OpCall&, int out) { return out == 0 ? 1 : 1 << 3; }

std::vector<OpCase> cases() {
  std::vector<OpCase> list;
  for (const Shape& s : {Shape{7, 5}, Shape{}, Shape{0}, Shape{3, 3, 2, 19}}) {
    const InputCase x{s};
    list.push_back({{x, x, rate_case()}, {{"momentum", 0.0}, {"nesterov", false}}, false});
    list.push_back({{x, x, rate_case(), x}, {{"momentum", 0.9}, {"nesterov", false}}, false});
    list.push_back({{x, x, rate_case(), x}, {{"momentum", 0.9}, {"nesterov", true}}, false});
  }
  return list;
}

constexpr KernelDef kKernels[] = {{.name = "highway", .prepare = prepare}};

}  // namespace

std::span<const OpDef> ops_sgd() {
  static const OpDef defs[] = {
      {.name = "sgd_update",
       .arity = {3, 4},
       .attrs = kAttrs,
       .infer = infer,
       .decompose = decompose,
       .kernels = kKernels,
       .cost = update_cost,
       .in_place = in_place,
       .cases = cases,
       .dtypes = kFloats32Up},
  };
  return defs;
}

std::vector<Tensor> sgd_update(const Tensor& w, const Tensor& grad, const Tensor& velocity,
                               const Tensor& learning_rate, double momentum, bool nesterov) {
  static const OpDef& op = get_op("sgd_update");
  std::vector<Tensor> in = {w, grad, learning_rate};
  if (momentum != 0) in.push_back(velocity);
  return apply(op, in, {{"momentum", momentum}, {"nesterov", nesterov}});
}

}  // namespace plimsoll
