// sgd_update(w, grad, learning_rate[, velocity][, scale, applies]): one step of gradient descent with the
// formulas of Keras 3: plain, with momentum, or with Nesterov's; guarded with the last two (UpdateGuard). The
// new weight and velocity may take the bytes of the old ones.
#include "device/cpu/optimizer_kernels.h"
#include "ops/optimizer_ops.h"

namespace plimsoll {
namespace {

constexpr AttrDef kAttrs[] = {{"momentum", AttrKind::real, "0.0"}, {"nesterov", AttrKind::boolean, "false"}};

// Operands without a guard.
size_t plain(const Attrs& attrs) { return attrs.real("momentum") != 0 ? 4 : 3; }

std::vector<TensorType> infer(const OpCall& c) {
  require_float(c, 0, "a weight");
  require_gradient(c, 1, c.in[0].shape);
  require_scalar(c, 2, "learning_rate", false);
  const bool momentum = c.attrs.real("momentum") != 0;
  const size_t some = plain(c.attrs);
  require(c.in.size() == some || is_guarded(c.in.size(), some), c.op.name,
          "expected a velocity if and only if momentum is not 0, got ", c.in.size(), " inputs");
  if (momentum) require_like_weight(c, 3, "velocity");
  require_guard(c, some);
  return std::vector<TensorType>(momentum ? 2 : 1, c.in[0]);
}

struct State {
  UpdateTypes types;
  DType rate_dtype;
  double momentum;
  bool nesterov;
  int64_t n;
  int threads;
  Guard guard;
};
void run(const State& s, void* const* a) {
  const double rate = read_real(s.rate_dtype, a[2]);
  const bool momentum = s.momentum != 0;
  void* const* const out = a + (momentum ? 4 : 3) + (s.guard.at == 0 ? 0 : 2);
  const void* const velocity = momentum ? a[3] : nullptr;
  void* const next = momentum ? out[1] : nullptr;
  if (s.guard.holds_back(a, {{a[0], out[0]}, {velocity, next}})) return;
  const SgdArgs args{a[0], a[1], velocity, rate, out[0], next, s.guard.scale(a)};
  sgd_step(s.types, s.momentum, s.nesterov, args, s.n, s.threads);
}
Kernel prepare(const KernelQuery& q) {
  return make_kernel<State, run>("highway sgd", {{q.in[0].dtype, q.in[1].dtype},
                                                 q.in[2].dtype,
                                                 q.attrs.real("momentum"),
                                                 q.attrs.flag("nesterov"),
                                                 q.in[0].shape.elements(),
                                                 q.threads,
                                                 Guard::of(q.in, plain(q.attrs))});
}

std::vector<Tensor> in_parts(std::span<const Tensor> in, const Attrs& attrs) {
  const DType dtype = in[0].dtype();
  const Tensor w = wide(in[0]), grad = wide(in[1]);
  const Tensor step = grad * narrow(in[2], grad.dtype());
  const double momentum = attrs.real("momentum");
  if (momentum == 0) return {narrow(w - step, dtype)};
  const Tensor velocity = wide(in[3]) * momentum - step;
  const Tensor move = attrs.flag("nesterov") ? velocity * momentum - step : velocity;
  return {narrow(w + move, dtype), narrow(velocity, dtype)};
}

std::vector<Tensor> decompose(std::span<const Tensor> in, const Attrs& attrs) {
  return guarded_parts(in, plain(attrs), 1, {0, 3},
                       [&](std::span<const Tensor> some) { return in_parts(some, attrs); });
}

uint64_t in_place(const OpCall&, int out) { return out == 0 ? 1 : 1 << 3; }

std::vector<OpCase> cases() {
  std::vector<OpCase> list;
  for (const Shape& s : {Shape{7, 5}, Shape{}, Shape{0}, Shape{3, 3, 2, 19}}) {
    const InputCase x{s};
    add_update(list, {{x, x, rate_case()}, {{"momentum", 0.0}, {"nesterov", false}}, false});
    add_update(list, {{x, x, rate_case(), x}, {{"momentum", 0.9}, {"nesterov", false}}, false});
    add_update(list, {{x, x, rate_case(), x}, {{"momentum", 0.9}, {"nesterov", true}}, false});
  }
  return list;
}

constexpr KernelDef kKernels[] = {{.name = "highway", .prepare = prepare}};

}  // namespace

std::span<const OpDef> ops_sgd() {
  static const OpDef defs[] = {
      {.name = "sgd_update",
       .arity = {3, 6},
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
                               const Tensor& learning_rate, double momentum, bool nesterov,
                               const UpdateGuard& guard) {
  static const OpDef& op = get_op("sgd_update");
  std::vector<Tensor> in = {w, grad, learning_rate};
  if (momentum != 0) in.push_back(velocity);
  return apply(op, with_guard(std::move(in), guard), {{"momentum", momentum}, {"nesterov", nesterov}});
}

}  // namespace plimsoll
