// Convolutions with Keras's arguments.
#include "plimsoll/layers/conv.h"

#include "plimsoll/activations.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/nn.h"

namespace plimsoll {
namespace {

struct ConvLayer : LayerBase {
  ConvLayer(int rank, int64_t filters, Dims kernel_size, ConvLayerOptions options)
      : rank(rank), filters(filters), kernel_size(std::move(kernel_size)), o(std::move(options)) {
    set_activity_regularizer(std::move(o.activity_regularizer));
  }
  int rank;
  int64_t filters;
  Dims kernel_size;
  ConvLayerOptions o;

  void fields(Fields& f) override {
    f("filters", filters);
    f("kernel_size", kernel_size);
    f("strides", o.strides);
    f("padding", o.padding);
    f("data_format", o.data_format);
    f("dilation_rate", o.dilation_rate);
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

  ConvOptions conv_options(const Tensor& x, const Ints& window) const {
    ConvOptions c{.strides = o.strides.of_rank(rank, name()),
                  .rhs_dilation = o.dilation_rate.of_rank(rank, name()),
                  .groups = o.groups};
    if (o.padding != "same") return c;
    for (int i = 0; i < rank; ++i) {
      const auto k = static_cast<size_t>(i);
      const auto [low, high] = same_padding(x.dim(i + 1), window[k], c.strides[k], c.rhs_dilation[k]);
      c.pad_low.push_back(low);
      c.pad_high.push_back(high);
    }
    return c;
  }

  Tensor call(Scope& s, const Tensor& x) override {
    require(x.rank() == rank + 2, name(), "expected an input of ", rank + 2, " axes, got shape ", x.shape());
    const Ints window = kernel_size.of_rank(rank, name());
    Ints kernel_shape = window;
    kernel_shape.push_back(x.dim(-1) / o.groups);
    kernel_shape.push_back(filters);
    const Tensor kernel = s.weight("kernel", Shape(kernel_shape), o.kernel_initializer,
                                   {.regularizer = o.kernel_regularizer, .constraint = o.kernel_constraint});
    Tensor y = conv(x, kernel, conv_options(x, window));
    if (o.use_bias) {
      y = y + s.weight("bias", {filters}, o.bias_initializer,
                       {.regularizer = o.bias_regularizer, .constraint = o.bias_constraint});
    }
    return activate(o.activation, y);
  }
};

struct Conv2DLayer final : ConvLayer {
  explicit Conv2DLayer(int64_t filters = 1, Dims kernel_size = 1, ConvLayerOptions options = {})
      : ConvLayer(2, filters, std::move(kernel_size), std::move(options)) {}
  std::string_view class_name() const override { return "Conv2D"; }
};

}  // namespace

Layer Conv2D(int64_t filters, Dims kernel_size, const ConvLayerOptions& options) {
  return own_layer(std::make_shared<Conv2DLayer>(filters, std::move(kernel_size), options), options.name);
}

std::span<const ClassDef> classes_conv() {
  static constexpr ClassDef rows[] = {{Family::layer, "Conv2D", "", make_default<Conv2DLayer>}};
  return rows;
}

}  // namespace plimsoll
