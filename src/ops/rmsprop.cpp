// rmsprop_update(w, grad, velocity, learning_rate[, momentum][, scale, applies]): one step of RMSprop with
// the formulas of Keras 3; guarded with the last two (UpdateGuard). The new weight and slots may take the
// bytes of the old ones.
#include "device/cpu/optimizer_kernels.h"
#include "ops/optimizer_ops.h"

namespace plimsoll {
namespace {

constexpr AttrDef kAttrs[] = {{"rho", AttrKind::real, "0.9"},
                              {"momentum", AttrKind::real, "0.0"},
                              {"epsilon", AttrKind::real, "1e-07"}};

// Operands without a guard.
size_t plain(const Attrs& attrs) { return attrs.real("momentum") > 0 ? 5 : 4; }

std::vector<TensorType> infer(const OpCall& c) {
  require_float(c, 0, "a weight");
  require_gradient(c, 1, c.in[0].shape);
  require_like_weight(c, 2, "velocity");
  require_scalar(c, 3, "learning_rate", false);
  const bool momentum = c.attrs.real("momentum") > 0;
  const size_t some = plain(c.attrs);
  require(c.in.size() == some || is_guarded(c.in.size(), some), c.op.name,
          "expected a momentum slot if and only if momentum is above 0, got ", c.in.size(), " inputs");
  if (momentum) require_like_weight(c, 4, "momentum");
  require_guard(c, some);
  return std::vector<TensorType>(momentum ? 3 : 2, c.in[0]);
}

struct State {
  UpdateTypes types;
  DType rate_dtype;
  double rho, momentum, epsilon;
  int64_t n;
  int threads;
  Guard guard;
};
void run(const State& s, void* const* a) {
  const double rate = read_real(s.rate_dtype, a[3]);
  const bool momentum = s.momentum > 0;
  void* const* const out = a + (momentum ? 5 : 4) + (s.guard.at == 0 ? 0 : 2);
  const void* const slot = momentum ? a[4] : nullptr;
  void* const next = momentum ? out[2] : nullptr;
  if (s.guard.holds_back(a, {{a[0], out[0]}, {a[2], out[1]}, {slot, next}})) return;
  const RmspropArgs args{a[0], a[1], a[2], slot, rate, out[0], out[1], next, s.guard.scale(a)};
  rmsprop_step(s.types, s.rho, s.momentum, s.epsilon, args, s.n, s.threads);
}
Kernel prepare(const KernelQuery& q) {
  return make_kernel<State, run>("highway rmsprop", {{q.in[0].dtype, q.in[1].dtype},
                                                     q.in[3].dtype,
                                                     q.attrs.real("rho"),
                                                     q.attrs.real("momentum"),
                                                     q.attrs.real("epsilon"),
                                                     q.in[0].shape.elements(),
                                                     q.threads,
                                                     Guard::of(q.in, plain(q.attrs))});
}

std::vector<Tensor> in_parts(std::span<const Tensor> in, const Attrs& attrs) {
  const DType dtype = in[0].dtype();
  const double rho = attrs.real("rho"), momentum = attrs.real("momentum");
  const Tensor w = wide(in[0]), grad = wide(in[1]);
  const Tensor velocity = rho * wide(in[2]) + (1 - rho) * square(grad);
  const Tensor step = narrow(in[3], grad.dtype()) * grad / sqrt(velocity + attrs.real("epsilon"));
  if (!(momentum > 0)) return {narrow(w - step, dtype), narrow(velocity, dtype)};
  const Tensor move = momentum * wide(in[4]) + step;
  return {narrow(w - move, dtype), narrow(velocity, dtype), narrow(move, dtype)};
}

std::vector<Tensor> decompose(std::span<const Tensor> in, const Attrs& attrs) {
  return guarded_parts(in, plain(attrs), 1, {0, 2, 4},
                       [&](std::span<const Tensor> some) { return in_parts(some, attrs); });
}

uint64_t in_place(const OpCall&, int out) { return uint64_t{1} << (2 * out); }

std::vector<OpCase> cases() {
  std::vector<OpCase> list;
  for (const Shape& s : {Shape{7, 5}, Shape{}, Shape{0}, Shape{3, 3, 2, 19}}) {
    const InputCase x{s};
    add_update(list, {{x, x, positive_case(s), rate_case()}, {{"momentum", 0.0}}, false});
    add_update(list, {{x, x, positive_case(s), rate_case(), x}, {{"momentum", 0.9}}, false});
  }
  return list;
}

constexpr KernelDef kKernels[] = {{.name = "highway", .prepare = prepare}};

}  // namespace

std::span<const OpDef> ops_rmsprop() {
  static const OpDef defs[] = {
      {.name = "rmsprop_update",
       .arity = {4, 7},
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
                                   const RmspropOptions& options, const UpdateGuard& guard) {
  static const OpDef& op = get_op("rmsprop_update");
  std::vector<Tensor> in = {w, grad, velocity, learning_rate};
  if (options.momentum > 0) in.push_back(momentum);
  return apply(op, with_guard(std::move(in), guard),
               {{"rho", options.rho}, {"momentum", options.momentum}, {"epsilon", options.epsilon}});
}

}  // namespace plimsoll
