// Cross-entropies on logits, one loss per row of classes. The softmax ones have a second output, the log of
// the sum of exp(logits) per row (in float32 for halves), from which the gradient needs one pass. A label
// outside [0, classes) gives a NaN loss and no gradient, as in TensorFlow.
#include <limits>

#include "device/cpu/softmax_kernels.h"
#include "graph/rows.h"
#include "ops/float_ops.h"

namespace plimsoll {
namespace {

TensorType per_row(const OpCall& c, DType dtype) {
  const Shape& shape = c.in[0].shape;
  return {dtype, shape.without(shape.rank() - 1)};
}

void check_logits(const OpCall& c) {
  require_float(c, 0, "logits");
  const Shape& shape = c.in[0].shape;
  require(shape.rank() >= 1 && shape.dim(-1) >= 1, c.op.name,
          "expected logits (..., classes) with at least one class, got ", c.in[0]);
}

void check_labels(const OpCall& c) {
  check_logits(c);
  require_integer(c, 1, "labels");
  const TensorType rows = per_row(c, c.in[1].dtype);
  require(c.in[1] == rows, c.op.name, "expected labels of shape ", rows.shape, " for logits ", c.in[0],
          ", got ", c.in[1]);
}

void check_targets(const OpCall& c) {
  check_logits(c);
  require_type(c, 1, "targets", c.in[0].dtype, c.in[0].shape);
}

template <void (*check)(const OpCall&)>
std::vector<TensorType> infer(const OpCall& c) {
  check(c);
  return {per_row(c, c.in[0].dtype), per_row(c, wide_type(c.in[0].dtype))};
}

template <void (*check)(const OpCall&)>
std::vector<TensorType> infer_grad(const OpCall& c) {
  check(c);
  const TensorType rows = per_row(c, c.in[0].dtype);
  require_type(c, 2, "log-sum-exp", wide_type(rows.dtype), rows.shape);
  require_type(c, 3, "dloss", rows.dtype, rows.shape);
  return {c.in[0]};
}

struct State {
  DType dtype;
  DType label_dtype;
  RowsView view;
  int threads;
};

void run_sparse(const State& s, void* const* a) {
  sparse_cross_entropy_forward(s.dtype, s.view, a[0], s.label_dtype, a[1], a[2], a[3], s.threads);
}
void run_sparse_grad(const State& s, void* const* a) {
  sparse_cross_entropy_backward(s.dtype, s.view, a[0], s.label_dtype, a[1], a[2], a[3], a[4], s.threads);
}
void run_dense(const State& s, void* const* a) {
  cross_entropy_forward(s.dtype, s.view, a[0], a[1], a[2], a[3], s.threads);
}
void run_dense_grad(const State& s, void* const* a) {
  cross_entropy_backward(s.dtype, s.view, a[0], a[1], a[2], a[3], a[4], s.threads);
}

template <void (*F)(const State&, void* const*)>
Kernel prepare(const KernelQuery& q) {
  const Shape& shape = q.in[0].shape;
  const int64_t classes = shape.dim(-1);
  const State state{q.in[0].dtype, q.in[1].dtype, {shape.elements() / classes, classes}, q.threads};
  return make_kernel<State, F>("highway cross-entropy", state);
}

Tensor log_sum_exp(const Tensor& x) {
  const Tensor top = max(x, {-1});
  return top + log(sum(exp(x - expand_dims(top, -1)), {-1}));
}

// One where the label is, and whether there is such a place.
struct Picked {
  Tensor mask, inside;
};
Picked pick(const Tensor& x, const Tensor& labels) {
  const Tensor mask = equal(one_hot(labels, x.dim(-1), x.dtype()), scalar_like(x, 1));
  return {mask, any(mask, {-1})};
}

std::vector<Tensor> decompose_sparse(std::span<const Tensor> in, const Attrs&) {
  const Tensor x = wide(in[0]);
  const Tensor lse = log_sum_exp(x);
  const Picked p = pick(x, in[1]);
  const Tensor loss = lse - sum(where(p.mask, x, scalar_like(x, 0)), {-1});
  const Tensor nan = scalar_like(x, std::numeric_limits<double>::quiet_NaN());
  return {narrow(where(p.inside, loss, nan), in[0].dtype()), lse};
}

std::vector<Tensor> decompose_sparse_grad(std::span<const Tensor> in, const Attrs&) {
  const Tensor x = wide(in[0]), dloss = wide(in[3]);
  const Picked p = pick(x, in[1]);
  const Tensor y = exp(x - expand_dims(in[2], -1)) - cast(p.mask, x.dtype());
  const Tensor weight = where(p.inside, dloss, scalar_like(x, 0));
  return {narrow(y * expand_dims(weight, -1), in[0].dtype())};
}

std::vector<Tensor> decompose_dense(std::span<const Tensor> in, const Attrs&) {
  const Tensor x = wide(in[0]), t = wide(in[1]);
  const Tensor lse = log_sum_exp(x);
  return {narrow(sum(t * (expand_dims(lse, -1) - x), {-1}), in[0].dtype()), lse};
}

std::vector<Tensor> decompose_dense_grad(std::span<const Tensor> in, const Attrs&) {
  const Tensor x = wide(in[0]), t = wide(in[1]), dloss = wide(in[3]);
  const Tensor y = exp(x - expand_dims(in[2], -1)) * sum(t, {-1}, true) - t;
  return {narrow(y * expand_dims(dloss, -1), in[0].dtype())};
}

// The loss's part of dlogits by the gradient op, the log-sum-exp's in small ops (only second derivatives have
// it).
void grad_logits(GradContext& g, const OpDef& op) {
  const Tensor &x = g.in(0), &lse = g.out(1);
  Tensor dx;
  if (g.has_dout(0)) dx = apply1(op, {x, g.in(1), lse, g.dout(0)});
  if (g.has_dout(1)) {
    const Tensor y = exp(wide(x) - expand_dims(lse, -1)) * expand_dims(g.dout(1), -1);
    dx = dx.defined() ? dx + narrow(y, x.dtype()) : narrow(y, x.dtype());
  }
  if (dx.defined()) g.set(0, dx);
}

void grad_sparse(GradContext& g) {
  static const OpDef& op = get_op("sparse_softmax_cross_entropy_grad");
  grad_logits(g, op);
}

void grad_dense(GradContext& g) {
  static const OpDef& op = get_op("softmax_cross_entropy_grad");
  if (g.wants(0)) grad_logits(g, op);
  if (g.wants(1) && g.has_dout(0)) {
    const Tensor dt = (expand_dims(g.out(1), -1) - wide(g.in(0))) * expand_dims(wide(g.dout(0)), -1);
    g.set(1, narrow(dt, g.in(1).dtype()));
  }
}

Cost cost(const OpCall& c, std::span<const TensorType> out) { return streaming_cost(c, out, 14); }
// The gradient may take the place of the logits.
uint64_t logits(const OpCall&, int) { return 1; }
uint64_t logits_or_targets(const OpCall&, int) { return 3; }

template <bool sparse, bool gradient>
std::vector<OpCase> cases() {
  std::vector<OpCase> list;
  for (const Shape& shape : {Shape{4, 7}, Shape{1, 1}, Shape{0, 3}, Shape{2, 3, 37}, Shape{5}}) {
    const Shape rows = shape.without(shape.rank() - 1);
    const InputCase labels{rows, 0, static_cast<double>(shape.dim(-1) - 1), DType::i32};
    const InputCase targets{shape, 0, 1, std::nullopt}, lse{rows, 1, 3, std::nullopt}, dloss{rows};
    OpCase one{{InputCase{shape}, sparse ? labels : targets}, {}};
    if (gradient) one.in.insert(one.in.end(), {lse, dloss});
    list.push_back(one);
  }
  return list;
}

std::optional<RowSplit> rows(const RowQuery& q) {
  return q.call.in[0].shape.rank() < 2 ? std::nullopt : leading_rows(q, "b", "b");
}

constexpr KernelDef kSparse[] = {{.name = "highway", .prepare = prepare<run_sparse>}};
constexpr KernelDef kSparseGrad[] = {{.name = "highway", .prepare = prepare<run_sparse_grad>}};
constexpr KernelDef kDense[] = {{.name = "highway", .prepare = prepare<run_dense>}};
constexpr KernelDef kDenseGrad[] = {{.name = "highway", .prepare = prepare<run_dense_grad>}};

// exp and log each add some ulp to sums in another order.
constexpr double kTolerance = 4e-6;

}  // namespace

std::span<const OpDef> ops_cross_entropy() {
  static const OpDef defs[] = {
      {.name = "sparse_softmax_cross_entropy",
       .arity = {2, 2},
       .infer = infer<check_labels>,
       .grad = grad_sparse,
       .decompose = decompose_sparse,
       .kernels = kSparse,
       .cost = cost,
       .rows = rows,
       .cases = cases<true, false>,
       .dtypes = kFloats,
       .tolerance = kTolerance},
      {.name = "sparse_softmax_cross_entropy_grad",
       .arity = {4, 4},
       .infer = infer_grad<check_labels>,
       .decompose = decompose_sparse_grad,
       .kernels = kSparseGrad,
       .cost = cost,
       .in_place = logits,
       .rows = rows,
       .cases = cases<true, true>,
       .dtypes = kFloats32Up,
       .tolerance = kTolerance},
      {.name = "softmax_cross_entropy",
       .arity = {2, 2},
       .infer = infer<check_targets>,
       .grad = grad_dense,
       .decompose = decompose_dense,
       .kernels = kDense,
       .cost = cost,
       .rows = rows,
       .cases = cases<false, false>,
       .dtypes = kFloats,
       .tolerance = kTolerance},
      {.name = "softmax_cross_entropy_grad",
       .arity = {4, 4},
       .infer = infer_grad<check_targets>,
       .decompose = decompose_dense_grad,
       .kernels = kDenseGrad,
       .cost = cost,
       .in_place = logits_or_targets,
       .rows = rows,
       .cases = cases<false, true>,
       .dtypes = kFloats32Up,
       .tolerance = kTolerance},
  };
  return defs;
}

Tensor sparse_softmax_cross_entropy(const Tensor& logits, const Tensor& labels) {
  static const OpDef& op = get_op("sparse_softmax_cross_entropy");
  return apply(op, {{logits, labels}}).front();
}

Tensor softmax_cross_entropy(const Tensor& logits, const Tensor& targets) {
  static const OpDef& op = get_op("softmax_cross_entropy");
  return apply(op, {{logits, targets}}).front();
}

// max(x, 0) - x t + log(1 + exp(-|x|)): no exp of a large number. relu() and absolute() would do for the
// value, but at x = 0, where untrained models start, their gradients do not add up to sigmoid(0) - t.
Tensor sigmoid_cross_entropy(const Tensor& logits, const Tensor& targets) {
  const Tensor zero = scalar_like(logits, 0);
  const Tensor positive = greater_equal(logits, zero);
  const Tensor minus_abs = where(positive, negative(logits), logits);
  return where(positive, logits, zero) - logits * targets + log1p(exp(minus_abs));
}

}  // namespace plimsoll
