// SeparableConv1D, SeparableConv2D: a depthwise convolution, then one of size 1 over the channels.
#include "layers/base/conv_parts.h"
#include "plimsoll/activations.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/conv.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

template <int rank>
struct SeparableConvLayer final : LayerBase {
  explicit SeparableConvLayer(int64_t filters = 1, Dims kernel_size = 1, SeparableConvOptions options = {})
      : filters(filters), kernel_size(std::move(kernel_size)), o(std::move(options)) {
    set_activity_regularizer(std::move(o.activity_regularizer));
  }
  int64_t filters;
  Dims kernel_size;
  SeparableConvOptions o;

  std::string_view class_name() const override { return rank == 1 ? "SeparableConv1D" : "SeparableConv2D"; }
  void fields(Fields& f) override {
    f("depth_multiplier", o.depth_multiplier);
    f("filters", filters);
    dims_field(f, "kernel_size", kernel_size, rank, name());
    dims_field(f, "strides", o.strides, rank, name());
    f("padding", o.padding);
    f("data_format", o.data_format);
    dims_field(f, "dilation_rate", o.dilation_rate, rank, name());
    f("activation", o.activation);
    f("use_bias", o.use_bias);
    f("depthwise_initializer", o.depthwise_initializer);
    f("pointwise_initializer", o.pointwise_initializer);
    f("bias_initializer", o.bias_initializer);
    f("depthwise_regularizer", o.depthwise_regularizer);
    f("pointwise_regularizer", o.pointwise_regularizer);
    f("bias_regularizer", o.bias_regularizer);
    activity_field(f);
    f("depthwise_constraint", o.depthwise_constraint);
    f("pointwise_constraint", o.pointwise_constraint);
    f("bias_constraint", o.bias_constraint);
  }

  Tensor call(Scope& s, const Tensor& input) override {
    require(o.depth_multiplier > 0 && filters > 0, name(), "expected depth_multiplier and filters > 0, got ",
            o.depth_multiplier, " and ", filters);
    check_choice(name(), "padding", o.padding, {"valid", "same"});
    const Tensor x = conv_input(name(), rank, o.data_format, input);
    const int64_t channels = x.dim(-1);
    const int64_t made = channels * o.depth_multiplier;
    const ConvWindow w = conv_window(name(), rank, kernel_size, o.strides, o.dilation_rate);
    Ints depth_shape = w.size, grouped = w.size, point_shape(rank, 1);
    depth_shape.insert(depth_shape.end(), {channels, o.depth_multiplier});
    grouped.insert(grouped.end(), {1, made});
    point_shape.insert(point_shape.end(), {made, filters});
    const ConvOptions c = conv_options(name(), x, w, o.padding, channels);
    const Tensor depth =
        s.weight("depthwise_kernel", Shape(depth_shape), o.depthwise_initializer,
                 {.regularizer = o.depthwise_regularizer, .constraint = o.depthwise_constraint});
    const Tensor point =
        s.weight("pointwise_kernel", Shape(point_shape), o.pointwise_initializer,
                 {.regularizer = o.pointwise_regularizer, .constraint = o.pointwise_constraint});
    const Tensor y = conv(conv(x, reshape(depth, Shape(grouped)), c), point);
    return activate(o.activation, conv_result(name(), o.data_format, with_bias(s, y, {filters}, o)));
  }
};

}  // namespace

Layer SeparableConv1D(int64_t filters, Dims kernel_size, const SeparableConvOptions& options) {
  return own_layer(std::make_shared<SeparableConvLayer<1>>(filters, std::move(kernel_size), options),
                   options);
}
Layer SeparableConv2D(int64_t filters, Dims kernel_size, const SeparableConvOptions& options) {
  return own_layer(std::make_shared<SeparableConvLayer<2>>(filters, std::move(kernel_size), options),
                   options);
}

std::span<const ClassDef> classes_separable_conv() {
  static constexpr ClassDef rows[] = {
      {Family::layer,
       "SeparableConv1D",
       "SeparableConvolution1D",
       make_default<SeparableConvLayer<1>>,
       {"filters", "kernel_size"}},
      {Family::layer,
       "SeparableConv2D",
       "SeparableConvolution2D",
       make_default<SeparableConvLayer<2>>,
       {"filters", "kernel_size"}},
  };
  return rows;
}

}  // namespace plimsoll
