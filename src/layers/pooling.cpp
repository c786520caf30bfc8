// MaxPooling1D/2D/3D, AveragePooling1D/2D/3D.
#include "plimsoll/layers/pooling.h"

#include "layers/base/parts.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/nn.h"

namespace plimsoll {
namespace {

constexpr std::string_view kNames[2][3] = {{"AveragePooling1D", "AveragePooling2D", "AveragePooling3D"},
                                           {"MaxPooling1D", "MaxPooling2D", "MaxPooling3D"}};

template <int rank, bool is_max>
struct PoolingLayer final : LayerBase {
  explicit PoolingLayer(Dims pool_size = 2, PoolLayerOptions options = {})
      : pool_size(std::move(pool_size)), o(std::move(options)) {}
  Dims pool_size;
  PoolLayerOptions o;

  std::string_view class_name() const override { return kNames[is_max][rank - 1]; }
  void fields(Fields& f) override {
    if (!f.reading() && o.strides.empty()) o.strides = pool_size;
    dims_field(f, "pool_size", pool_size, rank, name());
    f("padding", o.padding);
    dims_field(f, "strides", o.strides, rank, name());
    f("data_format", o.data_format);
  }
  PoolOptions pool_options(const Tensor& x) const {
    PoolOptions p{.window = pool_size.of_rank(rank, name())};
    p.strides = o.strides.empty() ? p.window : o.strides.of_rank(rank, name());
    for (size_t i = 0; i < p.window.size(); ++i) {
      require(p.window[i] > 0 && p.strides[i] > 0, name(), "expected pool_size and strides > 0, got ",
              p.window[i], " and ", p.strides[i]);
      const int64_t size = x.dim(static_cast<int>(i) + 1);
      std::pair<int64_t, int64_t> pads{0, 0};
      if (o.padding == "same") pads = same_padding(size, p.window[i], p.strides[i]);
      require(size + pads.first + pads.second >= p.window[i], name(), "the window of ", p.window[i],
              " does not fit the input of shape ", x.shape());
      p.pad_low.push_back(pads.first);
      p.pad_high.push_back(pads.second);
    }
    return p;
  }
  Tensor call(Scope&, const Tensor& input) override {
    require(input.rank() == rank + 2, name(), "expected an input of ", rank + 2, " axes, got shape ",
            input.shape());
    check_choice(name(), "padding", o.padding, {"valid", "same"});
    const bool first = is_channels_first(name(), o.data_format);
    const Tensor x = first ? channels_to_last(input) : input;
    const PoolOptions p = pool_options(x);
    const Tensor y = is_max ? max_pool(x, p) : average_pool(x, p);
    return first ? channels_to_first(y) : y;
  }
};

template <int rank, bool is_max>
Layer make_pooling(Dims pool_size, const PoolLayerOptions& options) {
  return own_layer(std::make_shared<PoolingLayer<rank, is_max>>(std::move(pool_size), options), options);
}

}  // namespace

Layer MaxPooling1D(Dims pool_size, const PoolLayerOptions& o) {
  return make_pooling<1, true>(std::move(pool_size), o);
}
Layer MaxPooling2D(Dims pool_size, const PoolLayerOptions& o) {
  return make_pooling<2, true>(std::move(pool_size), o);
}
Layer MaxPooling3D(Dims pool_size, const PoolLayerOptions& o) {
  return make_pooling<3, true>(std::move(pool_size), o);
}
Layer AveragePooling1D(Dims pool_size, const PoolLayerOptions& o) {
  return make_pooling<1, false>(std::move(pool_size), o);
}
Layer AveragePooling2D(Dims pool_size, const PoolLayerOptions& o) {
  return make_pooling<2, false>(std::move(pool_size), o);
}
Layer AveragePooling3D(Dims pool_size, const PoolLayerOptions& o) {
  return make_pooling<3, false>(std::move(pool_size), o);
}

std::span<const ClassDef> classes_pooling() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "MaxPooling1D", "MaxPool1D", make_default<PoolingLayer<1, true>>},
      {Family::layer, "MaxPooling2D", "MaxPool2D", make_default<PoolingLayer<2, true>>},
      {Family::layer, "MaxPooling3D", "MaxPool3D", make_default<PoolingLayer<3, true>>},
      {Family::layer, "AveragePooling1D", "AvgPool1D", make_default<PoolingLayer<1, false>>, {"pool_size"}},
      {Family::layer, "AveragePooling2D", "AvgPool2D", make_default<PoolingLayer<2, false>>, {"pool_size"}},
      {Family::layer, "AveragePooling3D", "AvgPool3D", make_default<PoolingLayer<3, false>>, {"pool_size"}},
  };
  return rows;
}

}  // namespace plimsoll
