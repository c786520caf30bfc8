// SimpleRNN, LSTM, GRU and their cells.
#include "layers/base/recurrent.h"

#include "plimsoll/activations.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/nn.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

using Tensors = std::vector<Tensor>;

struct SimpleRNNLayer final : RecurrentLayer {
  explicit SimpleRNNLayer(int64_t units = 1, RecurrentOptions options = {})
      : RecurrentLayer(units, std::move(options)) {}
  static constexpr std::string_view kCell = "SimpleRNNCell";
  std::string_view class_name() const override { return "SimpleRNN"; }
  int states() const override { return 1; }
  int gates() const override { return 1; }
  void activation_fields(Fields& f) override { f("activation", o.activation); }
  Tensors fused(const Tensor&, const Tensors&, const Weights&) const override { return {}; }
  Tensors step(const Tensor& x, std::span<const Tensor> states, const Weights& w,
               const Tensors& drops) const override {
    return {activate(o.activation, x + recur(states[0], w.recurrent, drops, 0, 1))};
  }
};

struct LSTMLayer final : RecurrentLayer {
  explicit LSTMLayer(int64_t units = 1, RecurrentOptions options = {})
      : RecurrentLayer(units, std::move(options)) {}
  static constexpr std::string_view kCell = "LSTMCell";
  std::string_view class_name() const override { return "LSTM"; }
  int states() const override { return 2; }
  int gates() const override { return 4; }
  Initializer initial_bias() const override {
    if (!o.unit_forget_bias || !o.bias_initializer) return o.bias_initializer;
    return forget_bias(o.bias_initializer);
  }
  void activation_fields(Fields& f) override {
    f("activation", o.activation);
    f("recurrent_activation", o.recurrent_activation);
  }
  void bias_fields(Fields& f) override { f("unit_forget_bias", o.unit_forget_bias); }
  void last_fields(Fields& f) override { f("seed", o.seed); }

  Tensors fused(const Tensor& x, const Tensors& states, const Weights& w) const override {
    if (o.activation != "tanh" || o.recurrent_activation != "sigmoid") return {};
    const Tensor bias = w.bias.defined() ? w.bias : Tensor::zeros(x.dtype(), {4 * units});
    return lstm(x, states[0], states[1], w.kernel, w.recurrent, bias, o.go_backwards);
  }
  Tensors step(const Tensor& x, std::span<const Tensor> states, const Weights& w,
               const Tensors& drops) const override {
    const Tensor z = x + recur(states[0], w.recurrent, drops, 0, 4);
    const Tensor input = activate(o.recurrent_activation, gate(z, 0));
    const Tensor forget = activate(o.recurrent_activation, gate(z, 1));
    const Tensor cell = forget * states[1] + input * activate(o.activation, gate(z, 2));
    const Tensor output = activate(o.recurrent_activation, gate(z, 3));
    return {output * activate(o.activation, cell), cell};
  }
};

struct GRULayer final : RecurrentLayer {
  explicit GRULayer(int64_t units = 1, RecurrentOptions options = {})
      : RecurrentLayer(units, std::move(options)) {}
  static constexpr std::string_view kCell = "GRUCell";
  std::string_view class_name() const override { return "GRU"; }
  int states() const override { return 1; }
  int gates() const override { return 3; }
  bool has_two_biases() const override { return o.reset_after; }
  void activation_fields(Fields& f) override {
    f("activation", o.activation);
    f("recurrent_activation", o.recurrent_activation);
  }
  void last_fields(Fields& f) override {
    f("reset_after", o.reset_after);
    f("seed", o.seed);
  }

  Tensors fused(const Tensor& x, const Tensors& states, const Weights& w) const override {
    if (!o.reset_after || o.activation != "tanh" || o.recurrent_activation != "sigmoid") return {};
    const Tensor bias = w.bias.defined() ? w.bias : Tensor::zeros(x.dtype(), {2, 3 * units});
    return gru(x, states[0], w.kernel, w.recurrent, bias, o.go_backwards);
  }
  Tensors step(const Tensor& x, std::span<const Tensor> states, const Weights& w,
               const Tensors& drops) const override {
    const Tensor& h = states[0];
    Tensor inner = recur(h, w.recurrent, drops, 0, o.reset_after ? 3 : 2);
    if (o.reset_after && w.bias.defined()) inner = inner + squeeze(slice(w.bias, {1, 0}, {2, 3 * units}), 0);
    const Tensor update = activate(o.recurrent_activation, gate(x, 0) + gate(inner, 0));
    const Tensor reset = activate(o.recurrent_activation, gate(x, 1) + gate(inner, 1));
    const Tensor turned = o.reset_after ? reset * gate(inner, 2) : recur(reset * h, w.recurrent, drops, 2, 3);
    const Tensor candidate = activate(o.activation, gate(x, 2) + turned);
    return {update * h + (1.0 - update) * candidate};
  }
};

}  // namespace

Layer SimpleRNN(int64_t units, const RecurrentOptions& options) {
  return own_layer(std::make_shared<SimpleRNNLayer>(units, options), options);
}
Layer LSTM(int64_t units, const RecurrentOptions& options) {
  return own_layer(std::make_shared<LSTMLayer>(units, options), options);
}
Layer GRU(int64_t units, const RecurrentOptions& options) {
  return own_layer(std::make_shared<GRULayer>(units, options), options);
}

Layer SimpleRNNCell(int64_t units, const RecurrentOptions& options) {
  return own_layer(std::make_shared<RecurrentCell<SimpleRNNLayer>>(units, options), options);
}
Layer LSTMCell(int64_t units, const RecurrentOptions& options) {
  return own_layer(std::make_shared<RecurrentCell<LSTMLayer>>(units, options), options);
}
Layer GRUCell(int64_t units, const RecurrentOptions& options) {
  return own_layer(std::make_shared<RecurrentCell<GRULayer>>(units, options), options);
}

std::span<const ClassDef> classes_recurrent() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "SimpleRNN", "", make_default<SimpleRNNLayer>, {"units"}},
      {Family::layer, "LSTM", "", make_default<LSTMLayer>, {"units"}},
      {Family::layer, "GRU", "", make_default<GRULayer>, {"units"}},
      {Family::layer, "SimpleRNNCell", "", make_default<RecurrentCell<SimpleRNNLayer>>, {"units"}},
      {Family::layer, "LSTMCell", "", make_default<RecurrentCell<LSTMLayer>>, {"units"}},
      {Family::layer, "GRUCell", "", make_default<RecurrentCell<GRULayer>>, {"units"}},
  };
  return rows;
}

}  // namespace plimsoll
