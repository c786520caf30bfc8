// Attention, recurrent layers, normalisation, softmax and losses, embedding, optimizers, random numbers.
#include <string>

#include "op_sweep/kernel_cases.h"

namespace plimsoll::testing {
namespace {

const std::vector<DType> kAll = {DType::f32, DType::f64, DType::bf16, DType::f16};

InputCase within(const Shape& shape, double low, double high) { return {shape, low, high, std::nullopt}; }

void add_attention(KernelCases& cases, const Shape& q, const Shape& k, int64_t width, const Shape* bias) {
  const bool gradient = cases.is("attention_grad");
  if (!gradient && !cases.is("attention")) return;
  const Shape v = k.with(3, width), y = q.with(3, width), lse{q[0], q[2], q[1]};
  for (const bool causal : {false, true}) {
    Attrs attrs{{"scale", 0.2}, {"causal", causal}};
    std::vector<InputCase> in{{q}, {k}, {v}};
    if (bias != nullptr) in.push_back({*bias});
    if (gradient) {
      attrs.set("bias", bias != nullptr);
      attrs.set("dbias", bias != nullptr);
      in.insert(in.end(), {InputCase{y}, within(lse, 4, 6), InputCase{y}});
    }
    cases.add(in, attrs, bias == nullptr && !causal ? kAll : std::vector{DType::f32});
  }
}

struct Rnn {
  int64_t batch, time, features, units;
};

void add_lstm(KernelCases& cases, const Rnn& d, bool reverse) {
  const bool gradient = cases.is("lstm_grad");
  if (!gradient && !cases.is("lstm")) return;
  const InputCase state = within({d.batch, d.units}, -1, 1), y = within({d.batch, d.time, d.units}, -1, 1);
  std::vector<InputCase> in{within({d.batch, d.time, d.features}, -1, 1), state, state,
                            within({d.features, 4 * d.units}, -0.2, 0.2),
                            within({d.units, 4 * d.units}, -0.2, 0.2)};
  Attrs attrs{{"reverse", reverse}};
  if (gradient) {
    in.insert(in.end(), {y, within({d.batch, d.time, 4 * d.units}, 0, 1), y, y, state, state});
    attrs.set("given", int64_t{7});
    attrs.set("dx", !reverse);
  } else {
    in.push_back(within({4 * d.units}, -1, 1));
  }
  cases.add(in, attrs, kAll);
}

void add_gru(KernelCases& cases, const Rnn& d, bool reverse) {
  const bool gradient = cases.is("gru_grad");
  if (!gradient && !cases.is("gru")) return;
  const InputCase state = within({d.batch, d.units}, -1, 1), y = within({d.batch, d.time, d.units}, -1, 1);
  std::vector<InputCase> in{within({d.batch, d.time, d.features}, -1, 1), state,
                            within({d.features, 3 * d.units}, -0.2, 0.2),
                            within({d.units, 3 * d.units}, -0.2, 0.2)};
  Attrs attrs{{"reverse", reverse}};
  if (gradient) {
    in.insert(in.end(), {y, within({d.batch, d.time, 3 * d.units}, 0, 1), y, reverse ? state : y});
    attrs.set("given", int64_t{reverse ? 2 : 1});
    attrs.set("dx", !reverse);
  } else {
    in.push_back(within({2, 3 * d.units}, -1, 1));
  }
  cases.add(in, attrs, kAll);
}

void add_norms(KernelCases& cases, const Shape& x) {
  const Shape c{x.dim(-1)}, rows = x.without(x.rank() - 1);
  if (cases.is("layer_norm")) cases.add({{x}, {c}, {c}}, {{"epsilon", 1e-3}}, kAll);
  if (cases.is("layer_norm_grad"))
    cases.add({{x}, {c}, within(rows, -1, 1), within(rows, 0.5, 2), {x}}, {}, kAll);
  for (const int form : {0, 1, 2, 3}) {
    const bool relu = form % 2 == 1, second = form >= 2;
    Attrs attrs{{"epsilon", 1e-3}, {"activation", std::string(relu ? "relu" : "linear")}};
    if (cases.is("batch_norm")) {
      attrs.set("residual", second);
      std::vector<InputCase> in{{x}, within(c, 0.5, 2), {c}};
      if (second) in.push_back({x});
      cases.add(in, attrs, kAll);
    }
    if (cases.is("batch_norm_grad")) {
      attrs.set("input_relu", second);
      std::vector<InputCase> in{{x}, {x}, within(c, 0.5, 2), {c}, within(c, 0.5, 2)};
      if (relu) in.push_back({x});
      cases.add(in, attrs, kAll);
    }
  }
}

void add_softmax(KernelCases& cases, const Shape& x, int64_t axis) {
  if (cases.is("softmax") || cases.is("log_softmax")) cases.add({{x}}, {{"axis", axis}}, kAll);
  if (cases.is("softmax_grad") || cases.is("log_softmax_grad"))
    cases.add({within(x, -2, 0), {x}}, {{"axis", axis}}, kAll);
  if (axis != -1) return;
  const Shape rows = x.without(x.rank() - 1);
  const InputCase labels{rows, 0, static_cast<double>(x.dim(-1) - 1), DType::i32}, targets = within(x, 0, 1);
  const InputCase lse = within(rows, 3, 6), dloss{rows};
  if (cases.is("sparse_softmax_cross_entropy")) cases.add({{x}, labels}, {}, kAll);
  if (cases.is("sparse_softmax_cross_entropy_grad")) cases.add({{x}, labels, lse, dloss}, {}, kAll);
  if (cases.is("softmax_cross_entropy")) cases.add({{x}, targets}, {}, kAll);
  if (cases.is("softmax_cross_entropy_grad")) cases.add({{x}, targets, lse, dloss}, {}, kAll);
}

void add_optimizers(KernelCases& cases) {
  const Shape w{70, 1003};
  const InputCase any{w}, positive = within(w, 0, 1), rate = within({}, 0.01, 0.1);
  const InputCase step{Shape{}, 0, 6, DType::i64};
  const std::vector<DType> floats(cases.op().dtypes.begin(), cases.op().dtypes.end());
  for (const double momentum : {0.0, 0.9}) {
    const bool some = momentum > 0;
    if (cases.is("adam_update"))
      cases.add({any, any, any, positive, rate, step}, {{"weight_decay", momentum / 50}}, floats);
    if (cases.is("adam_update_rows"))
      cases.add({{{501, 68}},
                 {{16, 21}, -501, 500, DType::i32},
                 {{16, 21, 68}},
                 {{501, 68}},
                 within({501, 68}, 0, 1),
                 rate,
                 step},
                {{"weight_decay", momentum / 50}}, floats);
    std::vector<InputCase> sgd{any, any, rate}, rmsprop{any, any, positive, rate};
    if (some) sgd.push_back(any), rmsprop.push_back(any);
    if (cases.is("sgd_update")) {
      cases.add(sgd, {{"momentum", momentum}}, floats);
      if (some) cases.add(sgd, {{"momentum", momentum}, {"nesterov", true}}, floats);
    }
    if (cases.is("rmsprop_update")) cases.add(rmsprop, {{"momentum", momentum}}, floats);
  }
}

void add_random(KernelCases& cases) {
  const InputCase key{{2}, 0, 4e9, DType::u32};
  const Ints shape{150, 201};
  if (cases.is("random_bits")) cases.add({key}, {{"shape", shape}});
  for (const DType t : kNumbers) {
    if (cases.is("random_uniform"))
      cases.add({key}, {{"dtype", t}, {"shape", shape}, {"low", 1.0}, {"high", 90.0}});
    if (cases.is("random_normal") && is_float(t))
      cases.add({key}, {{"dtype", t}, {"shape", shape}, {"mean", 0.5}, {"stddev", 2.0}});
  }
  if (cases.is("iota")) {
    for (const int64_t axis : {0, 1})
      cases.add({}, {{"axis", axis}, {"dtype", DType::i32}, {"shape", shape}});
  }
}

}  // namespace

void add_layers(KernelCases& cases) {
  const Shape mask{2, 1, 1, 140};
  add_attention(cases, {2, 130, 4, 32}, {2, 140, 4, 32}, 32, nullptr);
  add_attention(cases, {2, 130, 4, 32}, {2, 140, 4, 32}, 24, &mask);
  add_attention(cases, {1, 70, 3, 19}, {1, 70, 3, 19}, 64, nullptr);
  for (const bool reverse : {false, true}) {
    for (const Rnn& d : {Rnn{8, 12, 48, 64}, Rnn{5, 9, 33, 35}, Rnn{1, 20, 100, 96}}) {
      add_lstm(cases, d, reverse);
      add_gru(cases, d, reverse);
    }
  }
  for (const Shape& x : {Shape{300, 256}, Shape{7, 1000}, Shape{8, 24, 25, 33}, Shape{3000, 10}})
    add_norms(cases, x);
  for (const Shape& x : {Shape{128, 1000}, Shape{300, 10}, Shape{20, 7, 77}}) add_softmax(cases, x, -1);
  add_softmax(cases, {20, 100, 30}, 1);
  add_softmax(cases, {300, 70}, 0);
  const InputCase indices{{32, 21}, -1000, 999, DType::i32};
  if (cases.is("embedding")) cases.add({{{1000, 130}}, indices}, {}, kAll);
  if (cases.is("embedding_grad")) cases.add({indices, {{32, 21, 130}}}, {{"rows", int64_t{1000}}}, kAll);
  add_optimizers(cases);
  add_random(cases);
}

}  // namespace plimsoll::testing
