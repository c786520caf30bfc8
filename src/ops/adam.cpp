// adam_update(w, grad, m, v, learning_rate, step): one step of Adam, or of AdamW with weight_decay, with the
// formulas and roundings of Keras 3. adam_update_rows(w, indices, rows, m, v, learning_rate, step) is the
// same step on a table whose gradient is `rows` summed at `indices` (embedding_grad), to the same bits,
// without that gradient in memory. Either may have a guard behind its operands (UpdateGuard). A gradient may
// be of halves beside weights of float32. The new weight and slots may take the bytes of the old ones.
#include "device/cpu/index_reader.h"
#include "device/cpu/optimizer_kernels.h"
#include "ops/optimizer_ops.h"

namespace plimsoll {
namespace {

constexpr size_t kPlain = 6, kPlainRows = 7;  // operands without a guard

constexpr AttrDef kAttrs[] = {{"beta_1", AttrKind::real, "0.9"},
                              {"beta_2", AttrKind::real, "0.999"},
                              {"epsilon", AttrKind::real, "1e-07"},
                              {"weight_decay", AttrKind::real, "0.0"}};

AdamRule adam_rule(const Attrs& a) {
  return {a.real("beta_1"), a.real("beta_2"), a.real("epsilon"), a.real("weight_decay")};
}

void check_adam_slots(const OpCall& c, size_t m) {
  require_float(c, 0, "a weight");
  require_like_weight(c, m, "m");
  require_like_weight(c, m + 1, "v");
  require_scalar(c, m + 2, "learning_rate", false);
  require_scalar(c, m + 3, "step", true);
  require_guard(c, m + 4);
}

std::vector<TensorType> infer_adam(const OpCall& c) {
  check_adam_slots(c, 2);
  require_gradient(c, 1, c.in[0].shape);
  return {c.in[0], c.in[0], c.in[0]};
}

std::vector<TensorType> infer_adam_rows(const OpCall& c) {
  check_adam_slots(c, 3);
  const Shape& w = c.in[0].shape;
  require(w.rank() == 2, c.op.name, "expected a table (rows, width), got ", c.in[0]);
  require_integer(c, 1, "indices");
  require(w[0] > 0 || c.in[1].shape.elements() == 0, c.op.name, "expected a table with rows, got ", c.in[0]);
  require_gradient(c, 2, c.in[1].shape.inserted(c.in[1].shape.rank(), w[1]));
  return {c.in[0], c.in[0], c.in[0]};
}

struct AdamState {
  UpdateTypes types;
  DType rate_dtype, step_dtype;
  AdamRule rule;
  int64_t n;
  RowGradient rows;
  int threads;
  Guard guard;
};

void run_adam(const AdamState& s, void* const* a) {
  void* const* const out = a + (s.guard.at == 0 ? kPlain : kPlain + 2);
  if (s.guard.holds_back(a, {{a[0], out[0]}, {a[2], out[1]}, {a[3], out[2]}})) return;
  const AdamArgs args{a[0],
                      a[1],
                      a[2],
                      a[3],
                      read_real(s.rate_dtype, a[4]),
                      read_index(s.step_dtype, a[5], 0),
                      out[0],
                      out[1],
                      out[2],
                      s.guard.scale(a)};
  adam_step(s.types, s.rule, args, s.n, s.threads);
}
Kernel prepare_adam(const KernelQuery& q) {
  const AdamState s{{q.in[0].dtype, q.in[1].dtype},
                    q.in[4].dtype,
                    q.in[5].dtype,
                    adam_rule(q.attrs),
                    q.in[0].shape.elements(),
                    {},
                    q.threads,
                    Guard::of(q.in, kPlain)};
  return make_kernel<AdamState, run_adam>("highway adam", s);
}

void run_adam_rows(const AdamState& s, void* const* a) {
  void* const* const out = a + (s.guard.at == 0 ? kPlainRows : kPlainRows + 2);
  if (s.guard.holds_back(a, {{a[0], out[0]}, {a[3], out[1]}, {a[4], out[2]}})) return;
  const AdamArgs args{a[0],
                      a[2],
                      a[3],
                      a[4],
                      read_real(s.rate_dtype, a[5]),
                      read_index(s.step_dtype, a[6], 0),
                      out[0],
                      out[1],
                      out[2],
                      s.guard.scale(a)};
  RowGradient rows = s.rows;
  rows.indices = a[1];
  adam_rows_step(s.types, s.rule, args, rows, out[3], s.threads);
}
Kernel prepare_adam_rows(const KernelQuery& q) {
  const Shape& w = q.in[0].shape;
  const RowGradient rows{q.in[1].dtype, nullptr, q.in[1].shape.elements(), w[0], w[1]};
  const AdamState s{{q.in[0].dtype, q.in[2].dtype},
                    q.in[5].dtype,
                    q.in[6].dtype,
                    adam_rule(q.attrs),
                    w.elements(),
                    rows,
                    q.threads,
                    Guard::of(q.in, kPlainRows)};
  return make_kernel<AdamState, run_adam_rows>("highway adam by rows", s,
                                               adam_rows_scratch(q.in[0].dtype, rows, q.threads));
}

struct Adam {
  Tensor w, grad, m, v, learning_rate, step;
};
std::vector<Tensor> adam_in_parts(const Adam& in, const Attrs& attrs) {
  const AdamRule rule = adam_rule(attrs);
  const DType dtype = in.w.dtype();
  const Tensor grad = wide(in.grad);
  const Tensor rate = narrow(in.learning_rate, grad.dtype());
  const Tensor t = cast(in.step, grad.dtype()) + 1.0;
  const auto minus_power = [&](double beta) { return 1.0 - power(scalar_like(t, beta), t); };
  const Tensor alpha = rate * sqrt(minus_power(rule.beta_2)) / minus_power(rule.beta_1);
  Tensor w = wide(in.w), m = wide(in.m), v = wide(in.v);
  if (rule.weight_decay != 0) w = w - w * rule.weight_decay * rate;
  m = m + (grad - m) * (1 - rule.beta_1);
  v = v + (square(grad) - v) * (1 - rule.beta_2);
  w = w - m * alpha / (sqrt(v) + rule.epsilon);
  return {narrow(w, dtype), narrow(m, dtype), narrow(v, dtype)};
}

std::vector<Tensor> decompose_adam(std::span<const Tensor> all, const Attrs& attrs) {
  return guarded_parts(all, kPlain, 1, {0, 2, 3}, [&](std::span<const Tensor> in) {
    return adam_in_parts({in[0], in[1], in[2], in[3], in[4], in[5]}, attrs);
  });
}
std::vector<Tensor> decompose_adam_rows(std::span<const Tensor> all, const Attrs& attrs) {
  static const OpDef& op = get_op("embedding_grad");
  return guarded_parts(all, kPlainRows, 2, {0, 3, 4}, [&](std::span<const Tensor> in) {
    const Tensor grad = apply1(op, {in[1], wide(in[2])}, {{"rows", in[0].dim(0)}});
    return adam_in_parts({in[0], grad, in[3], in[4], in[5], in[6]}, attrs);
  });
}

uint64_t in_place_adam(const OpCall&, int out) { return out == 0 ? 1 : uint64_t{1} << (out + 1); }
uint64_t in_place_adam_rows(const OpCall&, int out) { return out == 0 ? 1 : uint64_t{1} << (out + 2); }

std::vector<OpCase> cases() {
  std::vector<OpCase> list;
  const InputCase step{Shape{}, 0, 6, DType::i64};
  const auto add = [&](const Shape& s, double decay) {
    add_update(list, {{InputCase{s}, InputCase{s}, InputCase{s}, positive_case(s), rate_case(), step},
                      {{"weight_decay", decay}},
                      false});
  };
  for (const Shape& s : {Shape{7, 5}, Shape{}, Shape{0}, Shape{3, 3, 2, 19}}) add(s, 0);
  add(Shape{37}, 0.02);
  return list;
}

std::vector<OpCase> cases_rows() {
  std::vector<OpCase> list;
  const InputCase step{Shape{}, 0, 6, DType::i64};
  for (const double decay : {0.0, 0.02}) {
    const Shape w{23, 9}, rows{2, 13, 9};
    add_update(list, {{InputCase{w},
                       {{2, 13}, -24, 25, DType::i32},
                       InputCase{rows},
                       InputCase{w},
                       positive_case(w),
                       rate_case(),
                       step},
                      {{"weight_decay", decay}},
                      false});
  }
  return list;
}

constexpr KernelDef kAdam[] = {{.name = "highway", .prepare = prepare_adam}};
constexpr KernelDef kAdamRows[] = {{.name = "highway", .prepare = prepare_adam_rows}};

// beta^t and 1 - beta^t lose digits in float32, more with one power function than with another.
constexpr double kTolerance = 1e-4;

}  // namespace

std::span<const OpDef> ops_adam() {
  static const OpDef defs[] = {
      {.name = "adam_update",
       .arity = {kPlain, kPlain + 2},
       .attrs = kAttrs,
       .infer = infer_adam,
       .decompose = decompose_adam,
       .kernels = kAdam,
       .cost = update_cost,
       .in_place = in_place_adam,
       .cases = cases,
       .dtypes = kFloats32Up,
       .tolerance = kTolerance},
      {.name = "adam_update_rows",
       .arity = {kPlainRows, kPlainRows + 2},
       .attrs = kAttrs,
       .infer = infer_adam_rows,
       .decompose = decompose_adam_rows,
       .kernels = kAdamRows,
       .cost = update_cost,
       .in_place = in_place_adam_rows,
       .cases = cases_rows,
       .dtypes = kFloats32Up,
       .tolerance = kTolerance},
  };
  return defs;
}

std::vector<Tensor> adam_update(const Tensor& w, const Tensor& grad, const Tensor& m, const Tensor& v,
                                const Tensor& learning_rate, const Tensor& step, const AdamOptions& options,
                                const UpdateGuard& guard) {
  static const OpDef& op = get_op("adam_update");
  return apply(op, with_guard({w, grad, m, v, learning_rate, step}, guard),
               {{"beta_1", options.beta_1},
                {"beta_2", options.beta_2},
                {"epsilon", options.epsilon},
                {"weight_decay", options.weight_decay}});
}

}  // namespace plimsoll
