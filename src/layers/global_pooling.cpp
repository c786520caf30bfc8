// GlobalMaxPooling1D/2D/3D, GlobalAveragePooling1D/2D/3D.
#include "layers/base/parts.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/pooling.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

constexpr std::string_view kNames[2][3] = {
    {"GlobalAveragePooling1D", "GlobalAveragePooling2D", "GlobalAveragePooling3D"},
    {"GlobalMaxPooling1D", "GlobalMaxPooling2D", "GlobalMaxPooling3D"}};

template <int rank, bool is_max>
struct GlobalPoolingLayer final : LayerBase {
  explicit GlobalPoolingLayer(GlobalPoolOptions options = {}) : o(std::move(options)) {}
  GlobalPoolOptions o;

  std::string_view class_name() const override { return kNames[is_max][rank - 1]; }
  void fields(Fields& f) override {
    f("data_format", o.data_format);
    f("keepdims", o.keepdims);
  }
  Tensor call(Scope& s, const Tensor& x) override {
    require(x.rank() == rank + 2, name(), "expected an input of ", rank + 2, " axes, got shape ", x.shape());
    const bool first = is_channels_first(name(), o.data_format);
    Ints axes;
    for (int i = 0; i < rank; ++i) axes.push_back(i + (first ? 2 : 1));
    if (is_max) return max(x, axes, o.keepdims);
    const Tensor mask = s.mask(x);
    if (rank != 1 || !mask.defined()) return mean(x, axes, o.keepdims);
    const Tensor kept = expand_dims(mask, first ? 1 : 2);
    const Tensor total = sum(where(kept, x, scalar_like(x, 0)), axes, o.keepdims);
    return total / sum(cast(kept, x.dtype()), axes, o.keepdims);
  }
};

template <int rank, bool is_max>
Layer make_pooling(const GlobalPoolOptions& options) {
  return own_layer(std::make_shared<GlobalPoolingLayer<rank, is_max>>(options), options);
}

}  // namespace

Layer GlobalMaxPooling1D(const GlobalPoolOptions& options) { return make_pooling<1, true>(options); }
Layer GlobalMaxPooling2D(const GlobalPoolOptions& options) { return make_pooling<2, true>(options); }
Layer GlobalMaxPooling3D(const GlobalPoolOptions& options) { return make_pooling<3, true>(options); }
Layer GlobalAveragePooling1D(const GlobalPoolOptions& options) { return make_pooling<1, false>(options); }
Layer GlobalAveragePooling2D(const GlobalPoolOptions& options) { return make_pooling<2, false>(options); }
Layer GlobalAveragePooling3D(const GlobalPoolOptions& options) { return make_pooling<3, false>(options); }

std::span<const ClassDef> classes_global_pooling() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "GlobalMaxPooling1D", "GlobalMaxPool1D", make_default<GlobalPoolingLayer<1, true>>},
      {Family::layer, "GlobalMaxPooling2D", "GlobalMaxPool2D", make_default<GlobalPoolingLayer<2, true>>},
      {Family::layer, "GlobalMaxPooling3D", "GlobalMaxPool3D", make_default<GlobalPoolingLayer<3, true>>},
      {Family::layer, "GlobalAveragePooling1D", "GlobalAvgPool1D",
       make_default<GlobalPoolingLayer<1, false>>},
      {Family::layer, "GlobalAveragePooling2D", "GlobalAvgPool2D",
       make_default<GlobalPoolingLayer<2, false>>},
      {Family::layer, "GlobalAveragePooling3D", "GlobalAvgPool3D",
       make_default<GlobalPoolingLayer<3, false>>},
  };
  return rows;
}

}  // namespace plimsoll
