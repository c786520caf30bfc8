// lstm(x, h0, c0, kernel, recurrent, bias; reverse): Keras's LSTM over x (batch, time, features), gates i, f,
// c, o, as one op, and its gradient. reverse: steps run from the last to the first, and outputs stay beside
// their inputs. Outputs {y, last h, last c, gates, cells}; the last two, in float32 for halves, are for the
// gradient.
#include <bit>

#include "device/cpu/lstm_kernels.h"
#include "graph/rows.h"
#include "ops/float_ops.h"
#include "ops/rnn_parts.h"

namespace plimsoll {
namespace {

constexpr AttrDef kAttrs[] = {{"reverse", AttrKind::boolean, "false"}};
// given: which of dy, dh and dc are among the inputs, as bits 0, 1, 2.
constexpr AttrDef kGradAttrs[] = {
    {"reverse", AttrKind::boolean, "false"}, {"given", AttrKind::integer}, {"dx", AttrKind::boolean, "true"}};
constexpr size_t kInputs = 6, kSaved = 8;  // of lstm; of lstm_grad before dy, dh, dc

// The first five inputs of both ops.
RnnDims check_inputs(const OpCall& c) {
  require_float(c, 0, "x");
  require(c.in[0].shape.rank() == 3, c.op.name, "expected x (batch, time, features), got ", c.in[0]);
  require(c.in[1].shape.rank() == 2, c.op.name, "expected h0 (batch, units), got ", c.in[1]);
  const RnnDims d = rnn_dims(c.in);
  require(d.time >= 1, c.op.name, "expected at least one step, got ", c.in[0]);
  const int64_t width = checked_mul(4, d.units, c.op.name);
  const DType dtype = c.in[0].dtype;
  require_type(c, 1, "h0", dtype, {d.batch, d.units});
  require_type(c, 2, "c0", dtype, {d.batch, d.units});
  require_type(c, 3, "kernel", dtype, {d.features, width});
  require_type(c, 4, "recurrent", dtype, {d.units, width});
  return d;
}

std::vector<TensorType> infer(const OpCall& c) {
  const RnnDims d = check_inputs(c);
  const DType dtype = c.in[0].dtype, saved = wide_type(dtype);
  require_type(c, 5, "bias", dtype, {4 * d.units});
  return {{dtype, {d.batch, d.time, d.units}},
          {dtype, {d.batch, d.units}},
          {dtype, {d.batch, d.units}},
          {saved, {d.batch, d.time, 4 * d.units}},
          {saved, {d.batch, d.time, d.units}}};
}

// Inputs x, h0, c0, kernel, recurrent, y, gates, cells, then dy, dh, dc as given. Outputs dh0, dc0, dkernel,
// drecurrent, dbias and, if asked for, dx.
std::vector<TensorType> infer_grad(const OpCall& c) {
  const int64_t given = c.attrs.integer("given");
  require(given > 0 && given < 8 &&
              c.in.size() == kSaved + static_cast<size_t>(std::popcount(static_cast<uint64_t>(given))),
          c.op.name, "expected ", kSaved, " inputs and one per bit of given, got ", c.in.size(), " and ",
          given);
  const RnnDims d = check_inputs(c);
  const DType dtype = c.in[0].dtype, saved = wide_type(dtype);
  require_type(c, 5, "y", dtype, {d.batch, d.time, d.units});
  require_type(c, 6, "gates", saved, {d.batch, d.time, 4 * d.units});
  require_type(c, 7, "cells", saved, {d.batch, d.time, d.units});
  size_t next = kSaved;
  if (given & 1) require_type(c, next++, "dy", dtype, {d.batch, d.time, d.units});
  if (given & 2) require_type(c, next++, "dh", dtype, {d.batch, d.units});
  if (given & 4) require_type(c, next++, "dc", dtype, {d.batch, d.units});
  std::vector<TensorType> out = {c.in[1], c.in[2], c.in[3], c.in[4], {dtype, {4 * d.units}}};
  if (c.attrs.flag("dx")) out.push_back(c.in[0]);
  return out;
}

void run(const LstmForward& lstm, void* const* a) {
  lstm.run({a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10]}, a[11]);
}
Kernel prepare(const KernelQuery& q) {
  LstmForward lstm(rnn_sizes(q));
  const int64_t scratch = lstm.scratch_bytes();
  return make_kernel<LstmForward, run>("highway lstm", lstm, scratch);
}

struct GradState {
  LstmBackward lstm;
  int64_t given;
  bool dx;
};
void run_grad(const GradState& s, void* const* a) {
  void* const* next = a + kSaved;
  const void* dy = s.given & 1 ? *next++ : nullptr;
  const void* dh = s.given & 2 ? *next++ : nullptr;
  const void* dc = s.given & 4 ? *next++ : nullptr;
  void* const dx = s.dx ? next[5] : nullptr;
  s.lstm.run({a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], dy, dh, dc, next[0], next[1], next[2], next[3],
              next[4], dx},
             next[s.dx ? 6 : 5]);
}
Kernel prepare_grad_wide(const KernelQuery& q) {
  const bool dx = q.attrs.flag("dx");
  GradState state{LstmBackward(rnn_sizes(q), dx), q.attrs.integer("given"), dx};
  const int64_t scratch = state.lstm.scratch_bytes();
  return make_kernel<GradState, run_grad>("highway lstm", state, scratch);
}
// Sequences are independent but for the sums of their gradients by the weights.
Kernel prepare_grad(const KernelQuery& q) {
  return prepare_widened(q, prepare_grad_wide,
                         {.length = q.in[0].shape[0], .in = ~0b11000u, .out = 0b100011});
}

// A scan over time, with the input's part of all steps before it.
std::vector<Tensor> decompose(std::span<const Tensor> in, const Attrs& attrs) {
  const Tensor x = wide(in[0]), recurrent = wide(in[4]);
  const int64_t batch = x.dim(0), time = x.dim(1), u = in[1].dim(1);
  const Tensor projected = time_first(matmul(x, wide(in[3])) + wide(in[5]));
  const Body step = [&](std::span<const Tensor> s) -> std::vector<Tensor> {
    const Tensor z = s[2] + matmul(s[0], recurrent);
    const auto gate = [&](int64_t k) { return slice(z, {0, k * u}, {batch, (k + 1) * u}); };
    const Tensor i = sigmoid(gate(0)), f = sigmoid(gate(1)), g = tanh(gate(2)), o = sigmoid(gate(3));
    const Tensor c = f * s[1] + i * g;
    const Tensor h = o * tanh(c);
    return {h, c, h, concatenate({{i, f, g, o}}, 1), c};
  };
  const std::vector<Tensor> all =
      scan({{wide(in[1]), wide(in[2])}}, {{projected}}, time, step, attrs.flag("reverse"));
  const DType dtype = in[0].dtype();
  return {narrow(time_first(all[2]), dtype), narrow(all[0], dtype), narrow(all[1], dtype), time_first(all[3]),
          time_first(all[4])};
}

// Backwards through time from the saved gates, as the kernel does.
std::vector<Tensor> decompose_grad(std::span<const Tensor> in, const Attrs& attrs) {
  const bool reverse = attrs.flag("reverse");
  const int64_t given = attrs.integer("given"), time = in[0].dim(1), u = in[1].dim(1), batch = in[0].dim(0);
  const Tensor x = wide(in[0]), kernel = wide(in[3]), y = wide(in[5]), &gates = in[6], &cells = in[7];
  const Tensor back = transpose(wide(in[4]), {1, 0});
  const Tensor h_before = steps_before(wide(in[1]), y, reverse),
               c_before = steps_before(wide(in[2]), cells, reverse);
  size_t next = kSaved;
  const Tensor dy = given & 1 ? wide(in[next++]) : zeros(x, {batch, time, u});
  const Tensor dh = given & 2 ? wide(in[next++]) : zeros(x, {batch, u});
  const Tensor dc = given & 4 ? wide(in[next++]) : zeros(x, {batch, u});
  const Body step = [&](std::span<const Tensor> s) -> std::vector<Tensor> {
    const auto gate = [&](int64_t k) { return slice(s[2], {0, k * u}, {batch, (k + 1) * u}); };
    const Tensor i = gate(0), f = gate(1), g = gate(2), o = gate(3);
    const Tensor up = s[0] + s[5], squashed = tanh(s[3]);
    const Tensor dcell = s[1] + up * o * (1.0 - square(squashed));
    const Tensor dz = concatenate({{dcell * g * i * (1.0 - i), dcell * s[4] * f * (1.0 - f),
                                    dcell * i * (1.0 - square(g)), up * squashed * o * (1.0 - o)}},
                                  1);
    return {matmul(dz, back), dcell * f, dz};
  };
  const std::vector<Tensor> all =
      scan({{dh, dc}}, {{time_first(gates), time_first(cells), time_first(c_before), time_first(dy)}}, time,
           step, !reverse);
  const Tensor dz = time_first(all[2]);
  std::vector<Tensor> out = {all[0], all[1], dot_general(x, dz, {0, 1}, {0, 1}),
                             dot_general(h_before, dz, {0, 1}, {0, 1}), sum(dz, {0, 1})};
  if (attrs.flag("dx")) out.push_back(dot_general(dz, kernel, {2}, {1}));
  for (Tensor& t : out) t = narrow(t, in[0].dtype());
  return out;
}

void grad(GradContext& g) {
  static const OpDef &forward = get_op("lstm"), &op = get_op("lstm_grad");
  std::vector<Tensor> in;
  for (int i = 0; i < static_cast<int>(kInputs); ++i) in.push_back(g.in(i));
  if (g.has_dout(3) || g.has_dout(4)) {  // only second derivatives reach what is saved
    const std::vector<Tensor> d =
        vjp_of_parts(forward, in, g.attrs(), {{g.dout(0), g.dout(1), g.dout(2), g.dout(3), g.dout(4)}});
    for (int i = 0; i < static_cast<int>(kInputs); ++i) g.set(i, d[static_cast<size_t>(i)]);
    return;
  }
  in.back() = g.out(0);  // the bias is not needed
  in.insert(in.end(), {g.out(3), g.out(4)});
  int64_t given = 0;
  for (int i = 0; i < 3; ++i) {
    if (!g.has_dout(i)) continue;
    given |= int64_t{1} << i;
    in.push_back(g.dout(i));
  }
  const bool dx = g.wants(0);
  const std::vector<Tensor> d =
      apply(op, in, {{"reverse", g.attrs().flag("reverse")}, {"given", given}, {"dx", dx}});
  for (int i = 1; i < static_cast<int>(kInputs); ++i) g.set(i, d[static_cast<size_t>(i - 1)]);
  if (dx) g.set(0, d[5]);
}

Cost cost(const OpCall& c, std::span<const TensorType> out) { return rnn_cost(c, out, 4); }
Cost cost_grad(const OpCall& c, std::span<const TensorType> out) { return rnn_cost(c, out, 8); }

std::vector<OpCase> cases_of(bool gradient) {
  std::vector<OpCase> list;
  for (const RnnDims& d :
       {RnnDims{2, 3, 4, 5}, RnnDims{1, 1, 1, 1}, RnnDims{7, 4, 3, 9}, RnnDims{0, 2, 3, 4}}) {
    const auto input = [](const Shape& shape) { return InputCase{shape, -1, 1, std::nullopt}; };
    const InputCase state = input({d.batch, d.units}), y = input({d.batch, d.time, d.units});
    const InputCase gates{{d.batch, d.time, 4 * d.units}, 0, 1, std::nullopt};
    const std::vector<InputCase> first = {input({d.batch, d.time, d.features}), state, state,
                                          input({d.features, 4 * d.units}), input({d.units, 4 * d.units})};
    for (const bool reverse : {false, true}) {
      OpCase one{first, {{"reverse", reverse}}};
      if (!gradient) one.in.push_back(input({4 * d.units}));
      if (gradient) {
        one.in.insert(one.in.end(), {y, gates, y});
        one.attrs.set("given", int64_t{reverse ? 6 : 1});
        one.attrs.set("dx", !reverse);
        reverse ? one.in.insert(one.in.end(), {state, state}) : one.in.insert(one.in.end(), {y});
      }
      list.push_back(one);
    }
  }
  return list;
}
std::vector<OpCase> cases() { return cases_of(false); }
std::vector<OpCase> cases_grad() { return cases_of(true); }

std::optional<RowSplit> rows(const RowQuery& q) { return leading_rows(q, "bbb-", "b"); }
std::optional<RowSplit> rows_grad(const RowQuery& q) { return leading_rows(q, "bbb--b", "bb+++b"); }

constexpr KernelDef kForward[] = {{.name = "highway", .prepare = prepare}};
constexpr KernelDef kBackward[] = {{.name = "highway", .prepare = prepare_grad}};

// Errors of the gates carry over from step to step.
constexpr double kTolerance = 2e-5;

}  // namespace

std::span<const OpDef> ops_lstm() {
  static const OpDef defs[] = {
      {.name = "lstm",
       .arity = {6, 6},
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
      {.name = "lstm_grad",
       .arity = {9, 11},
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

std::vector<Tensor> lstm(const Tensor& x, const Tensor& h0, const Tensor& c0, const Tensor& kernel,
                         const Tensor& recurrent, const Tensor& bias, bool reverse) {
  static const OpDef& op = get_op("lstm");
  std::vector<Tensor> out = apply(op, {{x, h0, c0, kernel, recurrent, bias}}, {{"reverse", reverse}});
  out.resize(3);
  return out;
}

}  // namespace plimsoll
