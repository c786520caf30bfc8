// layer_norm(x, gamma, beta; epsilon): (x - mean) / sqrt(variance + epsilon) * gamma + beta over the last
// axis. Outputs {y, mean, rstd}; the statistics (float32 for halves) make the gradient one pass over x and
// dy. With halves, gamma and beta may be float32.
#include "device/aligned.h"
#include "device/cpu/half_rows.h"
#include "device/cpu/layer_norm_kernels.h"
#include "graph/rows.h"
#include "ops/float_ops.h"

namespace plimsoll {
namespace {

constexpr AttrDef kAttrs[] = {{"epsilon", AttrKind::real}};

struct Sizes {
  int64_t rows, n;
};
Sizes sizes_of(const Shape& shape) {
  const int64_t n = shape.dim(-1);
  return {n == 0 ? 0 : shape.elements() / n, n};
}

TensorType statistics(const TensorType& x) {
  return {wide_type(x.dtype), x.shape.without(x.shape.rank() - 1)};
}

void check_input(const OpCall& c) {
  require_float(c, 0, "an input");
  const Shape& shape = c.in[0].shape;
  require(shape.rank() >= 1 && shape.dim(-1) >= 1, c.op.name,
          "expected an input with elements along its last axis, got ", c.in[0]);
  const bool wide = is_half(c.in[0].dtype) && c.in[1].dtype == DType::f32;
  require_type(c, 1, "gamma", wide ? DType::f32 : c.in[0].dtype, {shape.dim(-1)});
}

std::vector<TensorType> infer(const OpCall& c) {
  check_input(c);
  require_type(c, 2, "beta", c.in[1].dtype, c.in[1].shape);
  require(c.attrs.real("epsilon") >= 0, c.op.name, "expected epsilon >= 0, got ", c.attrs.real("epsilon"));
  return {c.in[0], statistics(c.in[0]), statistics(c.in[0])};
}

// Inputs x, gamma, mean, rstd, dy; outputs dx, dgamma, dbeta.
std::vector<TensorType> infer_grad(const OpCall& c) {
  check_input(c);
  const TensorType rows = statistics(c.in[0]);
  require_type(c, 2, "mean", rows.dtype, rows.shape);
  require_type(c, 3, "rstd", rows.dtype, rows.shape);
  require_type(c, 4, "dy", c.in[0].dtype, c.in[0].shape);
  return {c.in[0], c.in[1], c.in[1]};
}

struct State {
  DType dtype, weights;  // of x, of gamma and beta
  Sizes sizes;
  double epsilon;
  int threads;

  // A weight, or the place of its gradient, as the kernels take it: halves by way of a row of scratch.
  const void* read(const void* given, void* scratch) const {
    if (!is_half(weights)) return given;
    widen_row(weights, given, sizes.n, static_cast<float*>(scratch));
    return scratch;
  }
  int64_t row_bytes() const { return is_half(weights) ? aligned(4 * sizes.n) : 0; }
};

State state_of(const KernelQuery& q, double epsilon) {
  return {q.in[0].dtype, q.in[1].dtype, sizes_of(q.in[0].shape), epsilon, q.threads};
}

void run(const State& s, void* const* a) {
  auto* const rows = static_cast<char*>(a[6]);
  layer_norm_forward(s.dtype, s.sizes.rows, s.sizes.n, s.epsilon, a[0], s.read(a[1], rows),
                     s.read(a[2], rows + s.row_bytes()), a[3], a[4], a[5], s.threads);
}
Kernel prepare(const KernelQuery& q) {
  const State s = state_of(q, q.attrs.real("epsilon"));
  return make_kernel<State, run>("highway layer norm", s, 2 * s.row_bytes());
}

void run_grad(const State& s, void* const* a) {
  auto* const rows = static_cast<char*>(a[8]);
  const int64_t row = s.row_bytes();
  const bool narrow = is_half(s.weights);
  LayerNormGrad grad{a[0], s.read(a[1], rows), a[2], a[3], a[4], a[5], a[6], a[7]};
  if (narrow) grad.dgamma = rows + row, grad.dbeta = rows + 2 * row;
  layer_norm_backward(s.dtype, s.sizes.rows, s.sizes.n, grad, rows + 3 * row, s.threads);
  if (!narrow) return;
  narrow_row(static_cast<const float*>(grad.dgamma), s.sizes.n, s.weights, a[6]);
  narrow_row(static_cast<const float*>(grad.dbeta), s.sizes.n, s.weights, a[7]);
}
Kernel prepare_grad(const KernelQuery& q) {
  const State s = state_of(q, 0);
  const int64_t sums = layer_norm_scratch(s.dtype, s.sizes.rows, s.sizes.n);
  return make_kernel<State, run_grad>("highway layer norm", s, 3 * s.row_bytes() + sums);
}

std::vector<Tensor> decompose(std::span<const Tensor> in, const Attrs& attrs) {
  const Tensor x = wide(in[0]);
  const Tensor mu = mean(x, {-1});
  const Tensor centred = x - expand_dims(mu, -1);
  const Tensor rstd = rsqrt(mean(square(centred), {-1}) + attrs.real("epsilon"));
  const Tensor y = centred * expand_dims(rstd, -1) * wide(in[1]) + wide(in[2]);
  return {narrow(y, in[0].dtype()), mu, rstd};
}

std::vector<Tensor> decompose_grad(std::span<const Tensor> in, const Attrs&) {
  const Tensor x = wide(in[0]), gamma = wide(in[1]), dy = wide(in[4]);
  const Tensor rstd = expand_dims(in[3], -1);
  const Tensor h = (x - expand_dims(in[2], -1)) * rstd;
  const Tensor g = dy * gamma;
  const Tensor dx = rstd * (g - mean(g, {-1}, true) - h * mean(g * h, {-1}, true));
  const DType weights = in[1].dtype();
  return {narrow(dx, in[0].dtype()), narrow(sum_to(dy * h, gamma.shape()), weights),
          narrow(sum_to(dy, gamma.shape()), weights)};
}

void grad(GradContext& g) {
  static const OpDef& op = get_op("layer_norm_grad");
  const Tensor& x = g.in(0);
  const Tensor &mu = g.out(1), &rstd = g.out(2);
  Tensor dx;
  if (g.has_dout(0)) {
    const std::vector<Tensor> d = apply(op, {{x, g.in(1), mu, rstd, g.dout(0)}});
    dx = d[0];
    g.set(1, d[1]);
    g.set(2, d[2]);
  }
  // Only second derivatives reach the statistics.
  const double each = 1.0 / static_cast<double>(x.dim(-1));
  const auto add = [&](const Tensor& more) {
    dx = dx.defined() ? dx + narrow(more, x.dtype()) : narrow(more, x.dtype());
  };
  if (g.has_dout(1)) add(broadcast_to(expand_dims(g.dout(1) * each, -1), x.shape()));
  if (g.has_dout(2)) {
    const Tensor slope = g.dout(2) * rstd * rstd * rstd * -each;
    add((wide(x) - expand_dims(mu, -1)) * expand_dims(slope, -1));
  }
  if (dx.defined()) g.set(0, dx);
}

Cost cost(const OpCall& c, std::span<const TensorType> out) { return streaming_cost(c, out, 10); }
uint64_t take_x(const OpCall&, int out) { return out == 0 ? 1 : 0; }
uint64_t take_x_or_dy(const OpCall&, int out) { return out == 0 ? 1 | 1 << 4 : 0; }

std::vector<OpCase> cases_of(bool gradient) {
  std::vector<OpCase> list;
  for (const Shape& shape :
       {Shape{5, 7}, Shape{1, 1}, Shape{0, 3}, Shape{2, 3, 37}, Shape{19}, Shape{131, 16}}) {
    const Shape rows = shape.without(shape.rank() - 1);
    const InputCase x{shape}, weight{{shape.dim(-1)}}, mu{rows, -1, 1, std::nullopt},
        rstd{rows, 0.5, 2, std::nullopt};
    OpCase one{{x, weight, weight}, {{"epsilon", 1e-3}}};
    if (gradient) one = {{x, weight, mu, rstd, x}, {}};
    list.push_back(one);
  }
  return list;
}
std::vector<OpCase> cases() { return cases_of(false); }
std::vector<OpCase> cases_grad() { return cases_of(true); }

// The last axis is the one that is normalised.
std::optional<RowSplit> rows(const RowQuery& q) {
  return q.call.in[0].shape.rank() < 2 ? std::nullopt : leading_rows(q, "b-", "b");
}
std::optional<RowSplit> rows_grad(const RowQuery& q) {
  return q.call.in[0].shape.rank() < 2 ? std::nullopt : leading_rows(q, "b-b", "b+");
}

constexpr KernelDef kForward[] = {{.name = "highway", .prepare = prepare}};
constexpr KernelDef kBackward[] = {{.name = "highway", .prepare = prepare_grad}};

// Sums of products in another order; rstd amplifies the error of nearly constant rows.
constexpr double kTolerance = 3e-5;

}  // namespace

std::span<const OpDef> ops_layer_norm() {
  static const OpDef defs[] = {
      {.name = "layer_norm",
       .arity = {3, 3},
       .attrs = kAttrs,
       .infer = infer,
       .grad = grad,
       .decompose = decompose,
       .kernels = kForward,
       .cost = cost,
       .in_place = take_x,
       .rows = rows,
       .cases = cases,
       .dtypes = kFloats,
       .tolerance = kTolerance},
      {.name = "layer_norm_grad",
       .arity = {5, 5},
       .infer = infer_grad,
       .decompose = decompose_grad,
       .kernels = kBackward,
       .cost = cost,
       .in_place = take_x_or_dy,
       .rows = rows_grad,
       .cases = cases_grad,
       .dtypes = kFloats32Up,
       .tolerance = kTolerance},
  };
  return defs;
}

Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, double epsilon) {
  static const OpDef& op = get_op("layer_norm");
  return apply(op, {{x, gamma, beta}}, {{"epsilon", epsilon}}).front();
}

}  // namespace plimsoll
