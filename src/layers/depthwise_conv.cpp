// DepthwiseConv1D, DepthwiseConv2D: each channel convolved with kernels of its own.
#include "layers/base/conv_parts.h"
#include "plimsoll/activations.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/conv.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

template <int rank>
struct DepthwiseConvLayer final : LayerBase {
  explicit DepthwiseConvLayer(Dims kernel_size = 1, DepthwiseConvOptions options = {})
      : kernel_size(std::move(kernel_size)), o(std::move(options)) {
    set_activity_regularizer(std::move(o.activity_regularizer));
  }
  Dims kernel_size;
  DepthwiseConvOptions o;

  std::string_view class_name() const override { return rank == 1 ? "DepthwiseConv1D" : "DepthwiseConv2D"; }
  void fields(Fields& f) override {
    f("depth_multiplier", o.depth_multiplier);
    dims_field(f, "kernel_size", kernel_size, rank, name());
    dims_field(f, "strides", o.strides, rank, name());
    f("padding", o.padding);
    f("data_format", o.data_format);
    dims_field(f, "dilation_rate", o.dilation_rate, rank, name());
    f("activation", o.activation);
    f("use_bias", o.use_bias);
    f("depthwise_initializer", o.depthwise_initializer);
    f("bias_initializer", o.bias_initializer);
    f("depthwise_regularizer", o.depthwise_regularizer);
    f("bias_regularizer", o.bias_regularizer);
    activity_field(f);
    f("depthwise_constraint", o.depthwise_constraint);
    f("bias_constraint", o.bias_constraint);
  }

  Tensor call(Scope& s, const Tensor& input) override {
    require(o.depth_multiplier > 0, name(), "expected depth_multiplier > 0, got ", o.depth_multiplier);
    check_choice(name(), "padding", o.padding, {"valid", "same"});
    const Tensor x = conv_input(name(), rank, o.data_format, input);
    const int64_t channels = x.dim(-1);
    const int64_t made = channels * o.depth_multiplier;
    const ConvWindow w = conv_window(name(), rank, kernel_size, o.strides, o.dilation_rate);
    Ints shape = w.size;
    shape.insert(shape.end(), {channels, o.depth_multiplier});
    Ints grouped = w.size;
    grouped.insert(grouped.end(), {1, made});
    const ConvOptions c = conv_options(name(), x, w, o.padding, channels);
    const Tensor kernel =
        s.weight("kernel", Shape(shape), o.depthwise_initializer,
                 {.regularizer = o.depthwise_regularizer, .constraint = o.depthwise_constraint});
    const Tensor y = conv(x, reshape(kernel, Shape(grouped)), c);
    return activate(o.activation, conv_result(name(), o.data_format, with_bias(s, y, {made}, o)));
  }
};

}  // namespace

Layer DepthwiseConv1D(Dims kernel_size, const DepthwiseConvOptions& options) {
  return own_layer(std::make_shared<DepthwiseConvLayer<1>>(std::move(kernel_size), options), options);
}
Layer DepthwiseConv2D(Dims kernel_size, const DepthwiseConvOptions& options) {
  return own_layer(std::make_shared<DepthwiseConvLayer<2>>(std::move(kernel_size), options), options);
}

std::span<const ClassDef> classes_depthwise_conv() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "DepthwiseConv1D", "", make_default<DepthwiseConvLayer<1>>, {"kernel_size"}},
      {Family::layer, "DepthwiseConv2D", "", make_default<DepthwiseConvLayer<2>>, {"kernel_size"}},
  };
  return rows;
}

}  // namespace plimsoll
