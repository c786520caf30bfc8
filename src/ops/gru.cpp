// gru(x, h0, kernel, recurrent, bias; reverse): Keras's GRU with reset_after=True over x (batch, time,
// features), gates z, r, h, as one op, and its gradient. Outputs {y, last h, gates, inner}; the last two, in
// float32 for halves, are for the gradient: the activated gates, and the state's part of the candidate before
// the reset.
#include <bit>

#include "device/cpu/gru_kernels.h"
#include "graph/rows.h"
#include "ops/float_ops.h"
#include "ops/rnn_parts.h"

namespace plimsoll {
namespace {

constexpr AttrDef kAttrs[] = {{"reverse", AttrKind::boolean, "false"}};
// given: which of dy and dh are among the inputs, as bits 0, 1.
constexpr AttrDef kGradAttrs[] = {
    {"reverse", AttrKind::boolean, "false"}, {"given", AttrKind::integer}, {"dx", AttrKind::boolean, "true"}};
constexpr size_t kInputs = 5, kSaved = 7;  // of gru; of gru_grad before dy and dh

// The first four inputs of both ops.
RnnDims check_inputs(const OpCall& c) {
  require_float(c, 0, "x");
  require(c.in[0].shape.rank() == 3, c.op.name, "expected x (batch, time, features), got ", c.in[0]);
  require(c.in[1].shape.rank() == 2, c.op.name, "expected h0 (batch, units), got ", c.in[1]);
  const RnnDims d = rnn_dims(c.in);
  require(d.time >= 1, c.op.name, "expected at least one step, got ", c.in[0]);
  const int64_t width = checked_mul(3, d.units, c.op.name);
  const DType dtype = c.in[0].dtype;
  require_type(c, 1, "h0", dtype, {d.batch, d.units});
  require_type(c, 2, "kernel", dtype, {d.features, width});
  require_type(c, 3, "recurrent", dtype, {d.units, width});
  return d;
}

std::vector<TensorType> infer(const OpCall& c) {
  const RnnDims d = check_inputs(c);
  const DType dtype = c.in[0].dtype, saved = wide_type(dtype);
  require_type(c, 4, "bias", dtype, {2, 3 * d.units});
  return {{dtype, {d.batch, d.time, d.units}},
          {dtype, {d.batch, d.units}},
          {saved, {d.batch, d.time, 3 * d.units}},
          {saved, {d.batch, d.time, d.units}}};
}

// Inputs x, h0, kernel, recurrent, y, gates, inner, then dy and dh as given. Outputs dh0, dkernel,
// drecurrent, dbias and, if asked for, dx.
std::vector<TensorType> infer_grad(const OpCall& c) {
  const int64_t given = c.attrs.integer("given");
  require(given > 0 && given < 4 &&
              c.in.size() == kSaved + static_cast<size_t>(std::popcount(static_cast<uint64_t>(given))),
          c.op.name, "expected ", kSaved, " inputs and one per bit of given, got ", c.in.size(), " and ",
          given);
  const RnnDims d = check_inputs(c);
  const DType dtype = c.in[0].dtype, saved = wide_type(dtype);
  require_type(c, 4, "y", dtype, {d.batch, d.time, d.units});
  require_type(c, 5, "gates", saved, {d.batch, d.time, 3 * d.units});
  require_type(c, 6, "inner", saved, {d.batch, d.time, d.units});
  size_t next = kSaved;
  if (given & 1) require_type(c, next++, "dy", dtype, {d.batch, d.time, d.units});
  if (given & 2) require_type(c, next++, "dh", dtype, {d.batch, d.units});
  std::vector<TensorType> out = {c.in[1], c.in[2], c.in[3], {dtype, {2, 3 * d.units}}};
  if (c.attrs.flag("dx")) out.push_back(c.in[0]);
  return out;
}

void run(const GruForward& gru, void* const* a) {
  gru.run({a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]}, a[9]);
}
Kernel prepare(const KernelQuery& q) {
  GruForward gru(rnn_sizes(q));
  const int64_t scratch = gru.scratch_bytes();
  return make_kernel<GruForward, run>("highway gru", gru, scratch);
}

struct GradState {
  GruBackward gru;
  int64_t given;
  bool dx;
};
void run_grad(const GradState& s, void* const* a) {
  void* const* next = a + kSaved;
  const void* dy = s.given & 1 ? *next++ : nullptr;
  const void* dh = s.given & 2 ? *next++ : nullptr;
  void* const dx = s.dx ? next[4] : nullptr;
  s.gru.run({a[0], a[1], a[2], a[3], a[4], a[5], a[6], dy, dh, next[0], next[1], next[2], next[3], dx},
            next[s.dx ? 5 : 4]);
}
Kernel prepare_grad_wide(const KernelQuery& q) {
  const bool dx = q.attrs.flag("dx");
  GradState state{GruBackward(rnn_sizes(q), dx), q.attrs.integer("given"), dx};
  const int64_t scratch = state.gru.scratch_bytes();
  return make_kernel<GradState, run_grad>("highway gru", state, scratch);
}
// Sequences are independent but for the sums of their gradients by the weights.
Kernel prepare_grad(const KernelQuery& q) {
  return prepare_widened(q, prepare_grad_wide, {.length = q.in[0].shape[0], .in = ~0b1100u, .out = 0b10001});
}

// A scan over time, with the input's part of all steps before it.
std::vector<Tensor> decompose(std::span<const Tensor> in, const Attrs& attrs) {
  const Tensor x = wide(in[0]), recurrent = wide(in[3]), bias = wide(in[4]);
  const int64_t batch = x.dim(0), time = x.dim(1), u = in[1].dim(1);
  const auto bias_row = [&](int64_t k) { return reshape(slice(bias, {k, 0}, {k + 1, 3 * u}), Shape{3 * u}); };
  const Tensor projected = time_first(matmul(x, wide(in[2])) + bias_row(0));
  const Tensor state_bias = bias_row(1);
  const Body step = [&](std::span<const Tensor> s) -> std::vector<Tensor> {
    const Tensor state = matmul(s[0], recurrent) + state_bias;
    const auto part = [&](const Tensor& t, int64_t k) { return slice(t, {0, k * u}, {batch, (k + 1) * u}); };
    const Tensor z = sigmoid(part(s[1], 0) + part(state, 0)), r = sigmoid(part(s[1], 1) + part(state, 1));
    const Tensor inner = part(state, 2);
    const Tensor candidate = tanh(part(s[1], 2) + r * inner);
    const Tensor h = z * s[0] + (1.0 - z) * candidate;
    return {h, h, concatenate({{z, r, candidate}}, 1), inner};
  };
  const std::vector<Tensor> all = scan({{wide(in[1])}}, {{projected}}, time, step, attrs.flag("reverse"));
  const DType dtype = in[0].dtype();
  return {narrow(time_first(all[1]), dtype), narrow(all[0], dtype), time_first(all[2]), time_first(all[3])};
}

// Backwards through time from the saved gates, as the kernel does.
std::vector<Tensor> decompose_grad(std::span<const Tensor> in, const Attrs& attrs) {
  const bool reverse = attrs.flag("reverse");
  const int64_t given = attrs.integer("given"), time = in[0].dim(1), u = in[1].dim(1), batch = in[0].dim(0);
  const Tensor x = wide(in[0]), kernel = wide(in[2]), &gates = in[5], &inner = in[6];
  const Tensor back = transpose(wide(in[3]), {1, 0});
  const Tensor h_before = steps_before(wide(in[1]), wide(in[4]), reverse);
  size_t next = kSaved;
  const Tensor dy = given & 1 ? wide(in[next++]) : zeros(x, {batch, time, u});
  const Tensor dh = given & 2 ? wide(in[next++]) : zeros(x, {batch, u});
  const Body step = [&](std::span<const Tensor> s) -> std::vector<Tensor> {
    const auto gate = [&](int64_t k) { return slice(s[1], {0, k * u}, {batch, (k + 1) * u}); };
    const Tensor z = gate(0), r = gate(1), candidate = gate(2), up = s[0] + s[4];
    const Tensor d_update = up * (s[3] - candidate) * z * (1.0 - z);
    const Tensor d_candidate = up * (1.0 - z) * (1.0 - square(candidate));
    const Tensor d_reset = d_candidate * s[2] * r * (1.0 - r);
    const Tensor dz_state = concatenate({{d_update, d_reset, d_candidate * r}}, 1);
    return {up * z + matmul(dz_state, back), concatenate({{d_update, d_reset, d_candidate}}, 1), dz_state};
  };
  const std::vector<Tensor> all =
      scan({{dh}}, {{time_first(gates), time_first(inner), time_first(h_before), time_first(dy)}}, time, step,
           !reverse);
  const Tensor dz_input = time_first(all[1]), dz_state = time_first(all[2]);
  const auto bias_row = [](const Tensor& dz) { return expand_dims(sum(dz, {0, 1}), 0); };
  std::vector<Tensor> out = {all[0], dot_general(x, dz_input, {0, 1}, {0, 1}),
                             dot_general(h_before, dz_state, {0, 1}, {0, 1}),
                             concatenate({{bias_row(dz_input), bias_row(dz_state)}}, 0)};
  if (attrs.flag("dx")) out.push_back(dot_general(dz_input, kernel, {2}, {1}));
  for (Tensor& t : out) t = narrow(t, in[0].dtype());
  return out;
}

void grad(GradContext& g) {
  static const OpDef &forward = get_op("gru"), &op = get_op("gru_grad");
  std::vector<Tensor> in;
  for (int i = 0; i < static_cast<int>(kInputs); ++i) in.push_back(g.in(i));
  if (g.has_dout(2) || g.has_dout(3)) {  // only second derivatives reach what is saved
    const std::vector<Tensor> d =
        vjp_of_parts(forward, in, g.attrs(), {{g.dout(0), g.dout(1), g.dout(2), g.dout(3)}});
    for (int i = 0; i < static_cast<int>(kInputs); ++i) g.set(i, d[static_cast<size_t>(i)]);
    return;
  }
  in.back() = g.out(0);  // the bias is not needed
  in.insert(in.end(), {g.out(2), g.out(3)});
  int64_t given = 0;
  for (int i = 0; i < 2; ++i) {
    if (!g.has_dout(i)) continue;
    given |= int64_t{1} << i;
    in.push_back(g.dout(i));
  }
  const bool dx = g.wants(0);
  const std::vector<Tensor> d =
      apply(op, in, {{"reverse", g.attrs().flag("reverse")}, {"given", given}, {"dx", dx}});
  for (int i = 1; i < static_cast<int>(kInputs); ++i) g.set(i, d[static_cast<size_t>(i - 1)]);
  if (dx) g.set(0, d[4]);
}

Cost cost(const OpCall& c, std::span<const TensorType> out) { return rnn_cost(c, out, 3); }
Cost cost_grad(const OpCall& c, std::span<const TensorType> out) { return rnn_cost(c, out, 6); }

std::vector<OpCase> cases_of(bool gradient) {
  std::vector<OpCase> list;
  for (const RnnDims& d :
       {RnnDims{2, 3, 4, 5}, RnnDims{1, 1, 1, 1}, RnnDims{7, 4, 3, 9}, RnnDims{0, 2, 3, 4}}) {
    const auto input = [](const Shape& shape) { return InputCase{shape, -1, 1, std::nullopt}; };
    const InputCase state = input({d.batch, d.units}), y = input({d.batch, d.time, d.units});
    const InputCase gates{{d.batch, d.time, 3 * d.units}, 0, 1, std::nullopt};
    const std::vector<InputCase> first = {input({d.batch, d.time, d.features}), state,
                                          input({d.features, 3 * d.units}), input({d.units, 3 * d.units})};
    for (const bool reverse : {false, true}) {
      OpCase one{first, {{"reverse", reverse}}};
      if (!gradient) one.in.push_back(input({2, 3 * d.units}));
      if (gradient) {
        one.in.insert(one.in.end(), {y, gates, y, reverse ? state : y});
        one.attrs.set("given", int64_t{reverse ? 2 : 1});
        one.attrs.set("dx", !reverse);
      }
      list.push_back(one);
    }
  }
  return list;
}
std::vector<OpCase> cases() { return cases_of(false); }
std::vector<OpCase> cases_grad() { return cases_of(true); }

std::optional<RowSplit> rows(const RowQuery& q) { return leading_rows(q, "bb-", "b"); }
std::optional<RowSplit> rows_grad(const RowQuery& q) { return leading_rows(q, "bb--b", "b+++b"); }

constexpr KernelDef kForward[] = {{.name = "highway", .prepare = prepare}};
constexpr KernelDef kBackward[] = {{.name = "highway", .prepare = prepare_grad}};

// Errors of the gates carry over from step to step.
constexpr double kTolerance = 2e-5;

}  // namespace

std::span<const OpDef> ops_gru() {
  static const OpDef defs[] = {
      {.name = "gru",
       .arity = {5, 5},
       .attrs = kAttrs,
       .infer = infer,
       .grad = grad,
       .decompose = decompose,
       .kernels = kForward,
       .cost = cost,
       .rows = rows,
       .cases = cases,
       .dtypes = kFloats,
       .tolerance = kTolerance},
      {.name = "gru_grad",
       .arity = {8, 9},
       .attrs = kGradAttrs,
       .infer = infer_grad,
       .decompose = decompose_grad,
       .kernels = kBackward,
       .cost = cost_grad,
       .rows = rows_grad,
       .cases = cases_grad,
       .dtypes = kFloats32Up,
       .tolerance = kTolerance},
  };
  return defs;
}

std::vector<Tensor> gru(const Tensor& x, const Tensor& h0, const Tensor& kernel, const Tensor& recurrent,
                        const Tensor& bias, bool reverse) {
  static const OpDef& op = get_op("gru");
  std::vector<Tensor> out = apply(op, {{x, h0, kernel, recurrent, bias}}, {{"reverse", reverse}});
  out.resize(2);
  return out;
}

}  // namespace plimsoll
