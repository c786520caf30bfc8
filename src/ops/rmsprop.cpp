// rmsprop_update(w, grad, velocity, learning_rate[, momentum]): one step of RMSprop with the formulas of
// Keras 3. The new weight and slots may take the bytes of the old ones.
#include "device/cpu/optimizer_kernels.h"
#include "ops/optimizer_ops.h"

namespace plimsoll {
namespace {

constexpr AttrDef kAttrs[] = {{"rho", AttrKind::real, "0.9"},
                              {"momentum", AttrKind::real, "0.0"},
                              {"epsilon", AttrKind::real, "1e-07"}};

std::vector<TensorType> infer(const OpCall& c) {
  require_float(c, 0, "a weight");
  require_gradient(c, 1, c.in[0].shape);
  require_like_weight(c, 2, "velocity");
  require_scalar(c, 3, "learning_rate", false);
  const bool momentum = c.attrs.real("momentum") > 0;
  require(c.in.size() == (momentum ? 5u : 4u), c.op.name,
          "expected a momentum slot if and only if momentum is above 0, got ", c.in.size(), " inputs");
  if (momentum) require_like_weight(c, 4, "momentum");
  return std::vector<TensorType>(momentum ? 3 : 2, c.in[0]);
}

struct State {
  UpdateTypes types;
  DType rate_dtype;
  double rho, momentum, epsilon;
  int64_t n;
  int threads;
};
void run(const State& s, void* const* a) {
  const double rate = read_real(s.rate_dtype, a[3]);
  const RmspropArgs args = s.momentum > 0 ? RmspropArgs{a[0], a[1], a[2], a[4], rate, a[5], a[6], a[7]}
                                          : RmspropArgs{a[0], a[1], a[2], nullptr, rate, a[4], a[5], nullptr};
  rmsprop_step(s.types, s.rho, s.momentum, s.epsilon, args, s.n, s.threads);
}
Kernel prepare(const KernelQuery& q) {
  return make_kernel<State, run>("highway rmsprop", {{q.in[0].dtype, q.in[1].dtype},
                                                     q.in[3].dtype,
                                                     q.attrs.real("rho"),
                                                     q.attrs.real("momentum"),
                                                     q.attrs.real("epsilon"),
                                                     q.in[0].shape.elements(),
                                                     q.threads});
}

std::vector<Tensor> decompose(std::span<const Tensor> in, const Attrs& attrs) {
  const DType dtype = in[0].dtype();
  const double rho = attrs.real("rho"), momentum = attrs.real("momentum");
  const Tensor w = wide(in[0]), grad = wide(in[1]);
  const Tensor velocity = rho * wide(in[2]) + (1 - rho) * square(grad);
  const Tensor step = narrow(in[3], grad.dtype()) * grad / sqrt(velocity + attrs.real("epsilon"));
  if (!(momentum > 0)) return {narrow(w - step, dtype), narrow(velocity, dtype)};
  const Tensor move = momentum * wide(in[4]) + step;
  return {narrow(w - move, dtype), narrow(velocity, dtype), narrow(move, dtype)};
}

uint64_t in_place(const OpCall&, int out) { return uint64_t{1} << (2 * out); }

std::vector<OpCase> cases() {
  std::vector<OpCase> list;
  for (const Shape& s : {Shape{7, 5}, Shape{}, Shape{0}, Shape{3, 3, 2, 19}}) {
    const InputCase x{s};
    list.push_back({{x, x, positive_case(s), rate_case()}, {{"momentum", 0.0}}, false});
    list.push_back({{x, x, positive_case(s), rate_case(), x}, {{"momentum", 0.9}}, false});
  }
  return list;
}

constexpr KernelDef kKernels[] = {{.name = "highway", .prepare = prepare}};

}  // namespace

std::span<const OpDef> ops_rmsprop() {
  static const OpDef defs[] = {
      {.name = "rmsprop_update",
       .arity = {4, 5},
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

std::vector<Tensor> rmsprop_update(const Tensor& w, const Tensor& grad, const Tensor& velocity,
                                   const Tensor& momentum, const Tensor& learning_rate,
                                   const RmspropOptions& options) {
  static const OpDef& op = get_op("rmsprop_update");
  std::vector<Tensor> in = {w, grad, velocity, learning_rate};
  if (options.momentum > 0) in.push_back(momentum);
  return apply(op, in, {{"rho", options.rho}, {"momentum", options.momentum}, {"epsilon", options.epsilon}});
}

}  // namespace plimsoll
