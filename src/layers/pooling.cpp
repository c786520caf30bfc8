// Pooling over windows.
#include "plimsoll/layers/pooling.h"

#include "plimsoll/error.h"
#include "plimsoll/ops/nn.h"

namespace plimsoll {
namespace {

struct PoolingLayer : LayerBase {
  PoolingLayer(int rank, Dims pool_size, PoolLayerOptions options)
      : rank(rank), pool_size(std::move(pool_size)), o(std::move(options)) {}
  int rank;
  Dims pool_size;
  PoolLayerOptions o;

  void fields(Fields& f) override {
    f("pool_size", pool_size);
    f("padding", o.padding);
    f("strides", o.strides);
    f("data_format", o.data_format);
  }
  PoolOptions pool_options(const Tensor& x) const {
    PoolOptions p{.window = pool_size.of_rank(rank, name())};
    p.strides = o.strides.empty() ? p.window : o.strides.of_rank(rank, name());
    for (int i = 0; i < rank && o.padding == "same"; ++i) {
      const auto k = static_cast<size_t>(i);
      const auto [low, high] = same_padding(x.dim(i + 1), p.window[k], p.strides[k]);
      p.pad_low.push_back(low);
      p.pad_high.push_back(high);
    }
    return p;
  }
};

struct MaxPooling2DLayer final : PoolingLayer {
  explicit MaxPooling2DLayer(Dims pool_size = 2, PoolLayerOptions options = {})
      : PoolingLayer(2, std::move(pool_size), std::move(options)) {}
  std::string_view class_name() const override { return "MaxPooling2D"; }
  Tensor call(Scope&, const Tensor& x) override { return max_pool(x, pool_options(x)); }
};

}  // namespace

Layer MaxPooling2D(Dims pool_size, const PoolLayerOptions& options) {
  return own_layer(std::make_shared<MaxPooling2DLayer>(std::move(pool_size), options), options.name);
}

std::span<const ClassDef> classes_pooling() {
  static constexpr ClassDef rows[] = {{Family::layer, "MaxPooling2D", "", make_default<MaxPooling2DLayer>}};
  return rows;
}

}  // namespace plimsoll
