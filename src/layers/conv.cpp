// Conv1D, Conv2D, Conv3D.
#include "plimsoll/layers/conv.h"

#include "layers/base/conv_parts.h"
#include "plimsoll/activations.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

template <int rank>
struct ConvLayer final : LayerBase {
  explicit ConvLayer(int64_t filters = 1, Dims kernel_size = 1, ConvLayerOptions options = {})
      : filters(filters), kernel_size(std::move(kernel_size)), o(std::move(options)) {
    set_activity_regularizer(std::move(o.activity_regularizer));
  }
  int64_t filters;
  Dims kernel_size;
  ConvLayerOptions o;

  std::string_view class_name() const override {
    return rank == 1 ? "Conv1D" : rank == 2 ? "Conv2D" : "Conv3D";
  }
  void fields(Fields& f) override {
    f("filters", filters);
    dims_field(f, "kernel_size", kernel_size, rank, name());
    dims_field(f, "strides", o.strides, rank, name());
    f("padding", o.padding);
    f("data_format", o.data_format);
    dims_field(f, "dilation_rate", o.dilation_rate, rank, name());
    f("groups", o.groups);
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

  Tensor call(Scope& s, const Tensor& input) override {
    if (rank == 1) check_choice(name(), "padding", o.padding, {"valid", "same", "causal"});
    if (rank != 1) check_choice(name(), "padding", o.padding, {"valid", "same"});
    const Tensor x = conv_input(name(), rank, o.data_format, input);
    require(filters > 0 && o.groups > 0 && filters % o.groups == 0 && x.dim(-1) % o.groups == 0, name(),
            "expected filters and input channels that are multiples of groups, got filters ", filters,
            ", channels ", x.dim(-1), ", groups ", o.groups);
    const ConvWindow w = conv_window(name(), rank, kernel_size, o.strides, o.dilation_rate);
    Ints kernel_shape = w.size;
    kernel_shape.push_back(x.dim(-1) / o.groups);
    kernel_shape.push_back(filters);
    const ConvOptions c = conv_options(name(), x, w, o.padding, o.groups);
    const Tensor y = conv(x,
                          s.weight("kernel", Shape(kernel_shape), o.kernel_initializer,
                                   {.regularizer = o.kernel_regularizer, .constraint = o.kernel_constraint}),
                          c);
    return activate(o.activation, conv_result(name(), o.data_format, with_bias(s, y, {filters}, o)));
  }
};

template <int rank>
Layer make_conv(int64_t filters, Dims kernel_size, const ConvLayerOptions& options) {
  return own_layer(std::make_shared<ConvLayer<rank>>(filters, std::move(kernel_size), options), options);
}

}  // namespace

Layer Conv1D(int64_t filters, Dims kernel_size, const ConvLayerOptions& options) {
  return make_conv<1>(filters, std::move(kernel_size), options);
}
Layer Conv2D(int64_t filters, Dims kernel_size, const ConvLayerOptions& options) {
  return make_conv<2>(filters, std::move(kernel_size), options);
}
Layer Conv3D(int64_t filters, Dims kernel_size, const ConvLayerOptions& options) {
  return make_conv<3>(filters, std::move(kernel_size), options);
}

std::span<const ClassDef> classes_conv() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "Conv1D", "Convolution1D", make_default<ConvLayer<1>>, {"filters", "kernel_size"}},
      {Family::layer, "Conv2D", "Convolution2D", make_default<ConvLayer<2>>, {"filters", "kernel_size"}},
      {Family::layer, "Conv3D", "Convolution3D", make_default<ConvLayer<3>>, {"filters", "kernel_size"}},
  };
  return rows;
}

}  // namespace plimsoll
