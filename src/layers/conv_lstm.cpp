// ConvLSTM1D, ConvLSTM2D, ConvLSTM3D: an LSTM whose products are convolutions.
#include "layers/base/cell.h"
#include "layers/base/conv_parts.h"
#include "plimsoll/activations.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/recurrent.h"
#include "plimsoll/ops/random.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

constexpr int kGates = 4;  // input, forget, candidate, output

Tensor gate_of(const Tensor& z, int which) {
  const int64_t width = z.dim(-1) / kGates;
  return slice_axis(z, z.rank() - 1, which * width, (which + 1) * width);
}

template <int rank>
struct ConvLSTMLayer final : LayerBase {
  explicit ConvLSTMLayer(int64_t filters = 1, Dims kernel_size = 1, ConvLSTMOptions options = {})
      : filters(filters), kernel_size(std::move(kernel_size)), o(std::move(options)) {
    set_activity_regularizer(std::move(o.activity_regularizer));
  }
  int64_t filters;
  Dims kernel_size;
  ConvLSTMOptions o;
  bool unroll = false, zero_output_for_mask = false;

  std::string_view class_name() const override {
    return rank == 1 ? "ConvLSTM1D" : rank == 2 ? "ConvLSTM2D" : "ConvLSTM3D";
  }
  void fields(Fields& f) override {
    f("return_sequences", o.return_sequences);
    f("return_state", o.return_state);
    f("go_backwards", o.go_backwards);
    f("stateful", o.stateful);
    f("unroll", unroll);
    f("zero_output_for_mask", zero_output_for_mask);
    f("filters", filters);
    dims_field(f, "kernel_size", kernel_size, rank, class_name());
    dims_field(f, "strides", o.strides, rank, class_name());
    f("padding", o.padding);
    f("data_format", o.data_format);
    dims_field(f, "dilation_rate", o.dilation_rate, rank, class_name());
    f("activation", o.activation);
    f("recurrent_activation", o.recurrent_activation);
    f("use_bias", o.use_bias);
    f("kernel_initializer", o.kernel_initializer);
    f("recurrent_initializer", o.recurrent_initializer);
    f("bias_initializer", o.bias_initializer);
    f("unit_forget_bias", o.unit_forget_bias);
    f("kernel_regularizer", o.kernel_regularizer);
    f("recurrent_regularizer", o.recurrent_regularizer);
    f("bias_regularizer", o.bias_regularizer);
    activity_field(f);
    f("kernel_constraint", o.kernel_constraint);
    f("recurrent_constraint", o.recurrent_constraint);
    f("bias_constraint", o.bias_constraint);
    f("dropout", o.dropout);
    f("recurrent_dropout", o.recurrent_dropout);
    f("seed", o.seed);
  }

  struct Weights {
    Tensor kernel, recurrent, bias;  // bias undefined: none
  };
  Weights make_weights(Scope& s, const ConvWindow& w, int64_t channels) {
    const int64_t width = checked_mul(filters, kGates, name());
    const auto shape = [&](int64_t from) {
      Ints sizes = w.size;
      sizes.insert(sizes.end(), {from, width});
      return Shape(sizes);
    };
    Weights made;
    made.kernel = s.weight("cell/kernel", shape(channels), o.kernel_initializer,
                           {.regularizer = o.kernel_regularizer, .constraint = o.kernel_constraint});
    made.recurrent = s.weight("cell/recurrent_kernel", shape(filters), o.recurrent_initializer,
                              {.regularizer = o.recurrent_regularizer, .constraint = o.recurrent_constraint});
    if (o.use_bias) {
      const bool opens = o.unit_forget_bias && bool(o.bias_initializer);
      made.bias = s.weight("cell/bias", {width}, opens ? forget_bias(o.bias_initializer) : o.bias_initializer,
                           {.regularizer = o.bias_regularizer, .constraint = o.bias_constraint});
    }
    s.add_seed_generator(o.seed, kGenerator);
    return made;
  }
  // One mask per gate, for all steps alike; none: nothing is dropped.
  std::vector<Tensor> drops(Scope& s, double rate, const Tensor& like) const {
    std::vector<Tensor> masks;
    for (int i = 0; i < kGates && rate > 0 && s.training(); ++i) {
      const Tensor ones = Tensor::full(like.dtype(), like.shape(), 1);
      masks.push_back(dropout(ones, s.random_key(o.seed, kGenerator), rate));
    }
    return masks;
  }

  // Of all gates at once, or with a mask for each.
  static Tensor convolve(const Tensor& x, const Tensor& kernel, const std::vector<Tensor>& masks,
                         const ConvOptions& options) {
    if (masks.empty()) return conv(x, kernel, options);
    std::vector<Tensor> parts;
    for (int g = 0; g < kGates; ++g)
      parts.push_back(conv(x * masks[static_cast<size_t>(g)], gate_of(kernel, g), options));
    return concatenate(parts, -1);
  }

  CellStep step(const Weights& w, const ConvOptions& across, const ConvOptions& along,
                const std::vector<Tensor>& input_drops, const std::vector<Tensor>& state_drops) const {
    return
        [this, w, across, along, input_drops, state_drops](const Tensor& x, std::span<const Tensor> states) {
          Tensor z = convolve(x, w.kernel, input_drops, across);
          if (w.bias.defined()) z = z + w.bias;
          z = z + convolve(states[0], w.recurrent, state_drops, along);
          const Tensor input = activate(o.recurrent_activation, gate_of(z, 0));
          const Tensor forget = activate(o.recurrent_activation, gate_of(z, 1));
          const Tensor cell = forget * states[1] + input * activate(o.activation, gate_of(z, 2));
          const Tensor output = activate(o.recurrent_activation, gate_of(z, 3));
          const Tensor h = output * activate(o.activation, cell);
          return std::vector<Tensor>{h, h, cell};
        };
  }

  std::vector<Tensor> call_many(Scope& s, std::span<const Tensor> xs) override {
    require(!xs.empty() && xs[0].rank() == rank + 3 && xs[0].dim(1) > 0, name(),
            "expected an input (batch, time, ...) of ", rank + 3, " axes and at least one step, got ",
            xs.empty() ? "none" : xs[0].shape().str());
    require(filters > 0, name(), "expected filters > 0, got ", filters);
    check_choice(name(), "padding", o.padding, {"valid", "same"});
    const bool first = is_channels_first(name(), o.data_format);
    const TimeWalk walk{s.mask(xs[0]), o.go_backwards, zero_output_for_mask};
    std::vector<Tensor> inputs(xs.begin(), xs.end());
    for (size_t i = 0; first && i < inputs.size(); ++i) inputs[i] = axis_to_last(inputs[i], i == 0 ? 2 : 1);
    const Tensor& x = inputs[0];

    const ConvWindow window = conv_window(name(), rank, kernel_size, o.strides, o.dilation_rate);
    const Weights w = make_weights(s, window, x.dim(-1));
    const Tensor sample = squeeze(slice_axis(x, 1, 0, 1), 1);
    const ConvOptions across = conv_options(name(), sample, window, o.padding, 1);
    const Shape state = conv(sample, gate_of(w.kernel, 0), across).shape();
    const std::vector<Tensor> start = initial_states(s, inputs, {state, state}, o.stateful);
    const ConvWindow plain{window.size, Ints(rank, 1), Ints(rank, 1)};
    const ConvOptions along = conv_options(name(), start[0], plain, "same", 1);
    const CellStep one =
        step(w, across, along, drops(s, o.dropout, sample), drops(s, o.recurrent_dropout, start[0]));
    const std::vector<Tensor> found = walk_over_time(x, start, one, walk);
    if (o.stateful) keep_states(s, found);
    std::vector<Tensor> ys = recurrent_results(s, found, walk, {o.return_sequences, o.return_state});
    for (size_t i = 0; first && i < ys.size(); ++i) {
      ys[i] = axis_from_last(ys[i], i == 0 && o.return_sequences ? 2 : 1);
      if (i == 0 && o.return_sequences) s.set_mask(ys[0], walk.mask);
    }
    return ys;
  }

 private:
  static constexpr std::string_view kGenerator = "cell/seed_generator";
};

template <int rank>
Layer make_conv_lstm(int64_t filters, Dims kernel_size, const ConvLSTMOptions& options) {
  return own_layer(std::make_shared<ConvLSTMLayer<rank>>(filters, std::move(kernel_size), options), options);
}

}  // namespace

Layer ConvLSTM1D(int64_t filters, Dims kernel_size, const ConvLSTMOptions& options) {
  return make_conv_lstm<1>(filters, std::move(kernel_size), options);
}
Layer ConvLSTM2D(int64_t filters, Dims kernel_size, const ConvLSTMOptions& options) {
  return make_conv_lstm<2>(filters, std::move(kernel_size), options);
}
Layer ConvLSTM3D(int64_t filters, Dims kernel_size, const ConvLSTMOptions& options) {
  return make_conv_lstm<3>(filters, std::move(kernel_size), options);
}

std::span<const ClassDef> classes_conv_lstm() {
  constexpr Family kLayer = Family::layer;
  static constexpr ClassDef rows[] = {
      {kLayer, "ConvLSTM1D", "", make_default<ConvLSTMLayer<1>>, {"filters", "kernel_size"}},
      {kLayer, "ConvLSTM2D", "", make_default<ConvLSTMLayer<2>>, {"filters", "kernel_size"}},
      {kLayer, "ConvLSTM3D", "", make_default<ConvLSTMLayer<3>>, {"filters", "kernel_size"}},
  };
  return rows;
}

}  // namespace plimsoll
