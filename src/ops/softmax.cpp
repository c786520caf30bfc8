// softmax(x, axis): exp(x - max) / sum along one axis, log_softmax(x, axis): its logarithm, and the gradients
// of both from y and dy.
#include "device/cpu/softmax_kernels.h"
#include "graph/rows.h"
#include "ops/float_ops.h"

namespace plimsoll {
namespace {

constexpr AttrDef kAttrs[] = {{"axis", AttrKind::integer, "-1"}};

int axis_of(const Tensor& x, const Attrs& attrs) {
  return normalize_axis(attrs.integer("axis"), x.rank(), "softmax");
}

std::vector<TensorType> infer(const OpCall& c) {
  require_float(c, 0, "an input");
  normalize_axis(c.attrs.integer("axis"), c.in[0].shape.rank(), c.op.name);
  return {c.in[0]};
}

std::vector<TensorType> infer_grad(const OpCall& c) {
  require_type(c, 1, "dy", c.in[0].dtype, c.in[0].shape);
  return infer(c);
}

struct State {
  DType dtype;
  AxisView view;
  int threads;
};

template <bool log>
void run(const State& s, void* const* args) {
  softmax_forward(s.dtype, s.view, log, args[0], args[1], s.threads);
}
template <bool log>
void run_grad(const State& s, void* const* args) {
  softmax_backward(s.dtype, s.view, log, args[0], args[1], args[2], s.threads);
}

template <void (*F)(const State&, void* const*)>
Kernel prepare(const KernelQuery& q) {
  const Shape& shape = q.in[0].shape;
  const int axis = normalize_axis(q.attrs.integer("axis"), shape.rank(), "softmax");
  return make_kernel<State, F>("highway softmax", {q.in[0].dtype, axis_view(shape, axis), q.threads});
}

template <bool log>
std::vector<Tensor> decompose(std::span<const Tensor> in, const Attrs& attrs) {
  const Tensor x = wide(in[0]);
  const Ints axis = {axis_of(x, attrs)};
  const Tensor shifted = x - max(x, axis, true);
  if (log) return {narrow(shifted - plimsoll::log(sum(exp(shifted), axis, true)), in[0].dtype())};
  const Tensor e = exp(shifted);
  return {narrow(e / sum(e, axis, true), in[0].dtype())};
}

template <bool log>
std::vector<Tensor> decompose_grad(std::span<const Tensor> in, const Attrs& attrs) {
  const Tensor y = wide(in[0]), dy = wide(in[1]);
  const Ints axis = {axis_of(y, attrs)};
  const Tensor dx = log ? dy - exp(y) * sum(dy, axis, true) : y * (dy - sum(y * dy, axis, true));
  return {narrow(dx, in[0].dtype())};
}

template <bool log>
void grad(GradContext& g) {
  static const OpDef& op = get_op(log ? "log_softmax_grad" : "softmax_grad");
  g.set(0, apply1(op, {g.out(), g.dout()}, g.attrs()));
}

Cost cost(const OpCall& c, std::span<const TensorType> out) { return streaming_cost(c, out, 16); }
uint64_t any_input(const OpCall& c, int) { return (uint64_t{1} << c.in.size()) - 1; }

std::vector<OpCase> cases_of(size_t inputs) {
  std::vector<OpCase> list;
  const auto add = [&](const Shape& shape, int64_t axis) {
    list.push_back({std::vector<InputCase>(inputs, InputCase{shape}), {{"axis", axis}}});
  };
  for (const Shape& shape : {Shape{3, 7}, Shape{1, 1}, Shape{0, 3}, Shape{5, 33}}) add(shape, -1);
  add(Shape{13}, 0);
  for (const int64_t axis : {0, 1, 2}) add(Shape{3, 5, 11}, axis);
  return list;
}
std::vector<OpCase> cases() { return cases_of(1); }
std::vector<OpCase> cases_grad() { return cases_of(2); }

constexpr KernelDef kSoftmax[] = {{.name = "highway", .prepare = prepare<run<false>>}};
constexpr KernelDef kLogSoftmax[] = {{.name = "highway", .prepare = prepare<run<true>>}};
constexpr KernelDef kSoftmaxGrad[] = {{.name = "highway", .prepare = prepare<run_grad<false>>}};
constexpr KernelDef kLogSoftmaxGrad[] = {{.name = "highway", .prepare = prepare<run_grad<true>>}};

// exp has 2 ulp of error, and the sum runs in another order.
constexpr double kTolerance = 4e-6;

}  // namespace

std::span<const OpDef> ops_softmax() {
  static const OpDef defs[] = {
      {.name = "softmax",
       .arity = {1, 1},
       .attrs = kAttrs,
       .infer = infer,
       .grad = grad<false>,
       .decompose = decompose<false>,
       .kernels = kSoftmax,
       .cost = cost,
       .in_place = any_input,
       .rows = rows_beside_axis,
       .cases = cases,
       .dtypes = kFloats,
       .tolerance = kTolerance},
      {.name = "log_softmax",
       .arity = {1, 1},
       .attrs = kAttrs,
       .infer = infer,
       .grad = grad<true>,
       .decompose = decompose<true>,
       .kernels = kLogSoftmax,
       .cost = cost,
       .in_place = any_input,
       .rows = rows_beside_axis,
       .cases = cases,
       .dtypes = kFloats,
       .tolerance = kTolerance},
      {.name = "softmax_grad",
       .arity = {2, 2},
       .attrs = kAttrs,
       .infer = infer_grad,
       .decompose = decompose_grad<false>,
       .kernels = kSoftmaxGrad,
       .cost = cost,
       .in_place = any_input,
       .rows = rows_beside_axis,
       .cases = cases_grad,
       .dtypes = kFloats,
       .tolerance = kTolerance},
      {.name = "log_softmax_grad",
       .arity = {2, 2},
       .attrs = kAttrs,
       .infer = infer_grad,
       .decompose = decompose_grad<true>,
       .kernels = kLogSoftmaxGrad,
       .cost = cost,
       .in_place = any_input,
       .rows = rows_beside_axis,
       .cases = cases_grad,
       .dtypes = kFloats,
       .tolerance = kTolerance},
  };
  return defs;
}

Tensor softmax(const Tensor& x, int axis) {
  static const OpDef& op = get_op("softmax");
  return apply1(op, {x}, {{"axis", int64_t{axis}}});
}

Tensor log_softmax(const Tensor& x, int axis) {
  static const OpDef& op = get_op("log_softmax");
  return apply1(op, {x}, {{"axis", int64_t{axis}}});
}

}  // namespace plimsoll
