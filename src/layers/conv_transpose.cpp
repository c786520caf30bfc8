// Conv1DTranspose, Conv2DTranspose, Conv3DTranspose: the gradient of a convolution with respect to its input,
// written as a convolution of the input spread apart by the strides with the kernel turned round.
#include <algorithm>

#include "layers/base/conv_parts.h"
#include "plimsoll/activations.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/conv.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

// What Keras's words mean for one axis (its JAX backend's conversion).
std::pair<int64_t, int64_t> transpose_pads(int64_t window, int64_t stride, int64_t dilation, bool same,
                                           std::optional<int64_t> output_padding) {
  const int64_t reach = (window - 1) * dilation + 1;
  if (!same) return {reach - 1, reach - 1 + output_padding.value_or(std::max(reach, stride) - reach)};
  const int64_t total = output_padding ? reach + reach % 2 - 2 + *output_padding : stride + reach - 2;
  const int64_t left = std::min(total / 2 + total % 2, reach - 1);
  return {left, total - left};
}

template <int rank>
struct ConvTransposeLayer final : LayerBase {
  explicit ConvTransposeLayer(int64_t filters = 1, Dims kernel_size = 1, ConvTransposeOptions options = {})
      : filters(filters), kernel_size(std::move(kernel_size)), o(std::move(options)) {
    set_activity_regularizer(std::move(o.activity_regularizer));
  }
  int64_t filters;
  Dims kernel_size;
  ConvTransposeOptions o;

  std::string_view class_name() const override {
    return rank == 1 ? "Conv1DTranspose" : rank == 2 ? "Conv2DTranspose" : "Conv3DTranspose";
  }
  void fields(Fields& f) override {
    f("filters", filters);
    dims_field(f, "kernel_size", kernel_size, rank, name());
    dims_field(f, "strides", o.strides, rank, name());
    f("padding", o.padding);
    dims_field(f, "output_padding", o.output_padding, rank, name());
    f("data_format", o.data_format);
    dims_field(f, "dilation_rate", o.dilation_rate, rank, name());
    f("activation", o.activation);
    f("use_bias", o.use_bias);
    f("kernel_initializer", o.kernel_initializer);
    f("bias_initializer", o.bias_initializer);
    f("kernel_regularizer", o.kernel_regularizer);
    f("bias_regularizer", o.bias_regularizer);
    activity_field(f);
    f("kernel_constraint", o.kernel_constraint);
    f("bias_constraint", o.bias_constraint);
  }

  ConvOptions options(const ConvWindow& w) const {
    ConvOptions c{.lhs_dilation = w.strides, .rhs_dilation = w.dilation};
    const Ints extra = o.output_padding.empty() ? Ints() : o.output_padding.of_rank(rank, name());
    for (size_t i = 0; i < w.size.size(); ++i) {
      const auto given = extra.empty() ? std::optional<int64_t>() : extra[i];
      require(!given || *given >= 0, name(), "expected output_padding >= 0, got ", given.value_or(0));
      const auto [low, high] =
          transpose_pads(w.size[i], w.strides[i], w.dilation[i], o.padding == "same", given);
      require(low >= 0 && high >= 0, name(), "output_padding ", given.value_or(0),
              " cuts off more than the kernel adds");
      c.pad_low.push_back(low);
      c.pad_high.push_back(high);
    }
    return c;
  }
  // (window..., filters, channels) to (turned window..., channels, filters).
  static Tensor turned(const Tensor& kernel) {
    Ints spatial, order;
    for (int i = 0; i < rank; ++i) {
      spatial.push_back(i);
      order.push_back(i);
    }
    order.push_back(rank + 1);
    order.push_back(rank);
    return transpose(reverse(kernel, spatial), order);
  }

  Tensor call(Scope& s, const Tensor& input) override {
    require(filters > 0, name(), "expected filters > 0, got ", filters);
    check_choice(name(), "padding", o.padding, {"valid", "same"});
    const Tensor x = conv_input(name(), rank, o.data_format, input);
    const ConvWindow w = conv_window(name(), rank, kernel_size, o.strides, o.dilation_rate);
    Ints kernel_shape = w.size;
    kernel_shape.push_back(filters);
    kernel_shape.push_back(x.dim(-1));
    const ConvOptions c = options(w);
    const Tensor kernel = s.weight("kernel", Shape(kernel_shape), o.kernel_initializer,
                                   {.regularizer = o.kernel_regularizer, .constraint = o.kernel_constraint});
    const Tensor y = conv(x, turned(kernel), c);
    return activate(o.activation, conv_result(name(), o.data_format, with_bias(s, y, {filters}, o)));
  }
};

template <int rank>
Layer make_conv(int64_t filters, Dims kernel_size, const ConvTransposeOptions& options) {
  return own_layer(std::make_shared<ConvTransposeLayer<rank>>(filters, std::move(kernel_size), options),
                   options);
}

}  // namespace

Layer Conv1DTranspose(int64_t filters, Dims kernel_size, const ConvTransposeOptions& options) {
  return make_conv<1>(filters, std::move(kernel_size), options);
}
Layer Conv2DTranspose(int64_t filters, Dims kernel_size, const ConvTransposeOptions& options) {
  return make_conv<2>(filters, std::move(kernel_size), options);
}
Layer Conv3DTranspose(int64_t filters, Dims kernel_size, const ConvTransposeOptions& options) {
  return make_conv<3>(filters, std::move(kernel_size), options);
}

std::span<const ClassDef> classes_conv_transpose() {
  static constexpr ClassDef rows[] = {
      {Family::layer,
       "Conv1DTranspose",
       "Convolution1DTranspose",
       make_default<ConvTransposeLayer<1>>,
       {"filters", "kernel_size"}},
      {Family::layer,
       "Conv2DTranspose",
       "Convolution2DTranspose",
       make_default<ConvTransposeLayer<2>>,
       {"filters", "kernel_size"}},
      {Family::layer,
       "Conv3DTranspose",
       "Convolution3DTranspose",
       make_default<ConvTransposeLayer<3>>,
       {"filters", "kernel_size"}},
  };
  return rows;
}

}  // namespace plimsoll
