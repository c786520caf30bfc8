// AdaptiveMaxPooling1D/2D/3D, AdaptiveAveragePooling1D/2D/3D: windows that follow from the size wanted:
// output i sees the elements from floor(i * in / out) to ceil((i + 1) * in / out).
#include <algorithm>

#include "layers/base/conv_parts.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/pooling.h"
#include "plimsoll/ops/linalg.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

struct Span {
  int64_t first, last;
};
Span span_of(int64_t i, int64_t in, int64_t out) {
  return {i * in / out, ((i + 1) * in + out - 1) / out - 1};
}

Tensor average_along(const Tensor& x, int axis, int64_t out) {
  const int64_t in = x.dim(axis);
  const Tensor matrix = Tensor::zeros(DType::f32, {in, out});
  auto* const shares = matrix.data<float>();
  for (int64_t i = 0; i < out; ++i) {
    const Span s = span_of(i, in, out);
    for (int64_t k = s.first; k <= s.last; ++k)
      shares[k * out + i] = 1.0F / static_cast<float>(s.last - s.first + 1);
  }
  return axis_from_last(dot_general(x, cast(matrix, x.dtype()), {axis}, {0}), axis);
}

// Shorter windows see their last element twice.
Tensor most_along(const Tensor& x, int axis, int64_t out) {
  const int64_t in = x.dim(axis);
  const int64_t longest = std::min(in, (in + out - 1) / out + 1);
  const Tensor places = Tensor::empty(DType::i32, {out, longest});
  auto* const at = places.data<int32_t>();
  for (int64_t i = 0; i < out; ++i) {
    const Span s = span_of(i, in, out);
    for (int64_t k = 0; k < longest; ++k)
      at[i * longest + k] = static_cast<int32_t>(std::min(s.first + k, s.last));
  }
  return max(take(x, places, axis), {axis + 1});
}

template <int rank, bool average>
struct AdaptivePoolingLayer final : LayerBase {
  explicit AdaptivePoolingLayer(Dims output_size = 1, AdaptivePoolOptions options = {})
      : output_size(std::move(output_size)), o(std::move(options)) {}
  Dims output_size;
  AdaptivePoolOptions o;

  std::string_view class_name() const override {
    constexpr std::string_view kNames[] = {"AdaptiveMaxPooling1D",     "AdaptiveMaxPooling2D",
                                           "AdaptiveMaxPooling3D",     "AdaptiveAveragePooling1D",
                                           "AdaptiveAveragePooling2D", "AdaptiveAveragePooling3D"};
    return kNames[(average ? 3 : 0) + rank - 1];
  }
  void fields(Fields& f) override {
    dims_field(f, "output_size", output_size, rank, class_name());
    f("data_format", o.data_format);
  }
  Tensor call(Scope&, const Tensor& input) override {
    Tensor x = conv_input(name(), rank, o.data_format, input);
    const Ints sizes = output_size.of_rank(rank, name());
    for (int i = 0; i < rank; ++i) {
      const int64_t out = sizes[static_cast<size_t>(i)];
      constexpr int64_t kMost = int64_t{1} << 31;  // so that places can be multiplied
      require(out > 0 && out < kMost && x.dim(i + 1) > 0 && x.dim(i + 1) < kMost, name(),
              "expected output sizes > 0 and an input that has elements, got ", out, " for ", input.shape());
      checked_mul(out, x.dim(i + 1), name());
      x = average ? average_along(x, i + 1, out) : most_along(x, i + 1, out);
    }
    return conv_result(name(), o.data_format, x);
  }
};

template <int rank, bool average>
Layer make_pool(Dims output_size, const AdaptivePoolOptions& options) {
  return own_layer(std::make_shared<AdaptivePoolingLayer<rank, average>>(std::move(output_size), options),
                   options);
}

}  // namespace

Layer AdaptiveMaxPooling1D(Dims size, const AdaptivePoolOptions& o) { return make_pool<1, false>(size, o); }
Layer AdaptiveMaxPooling2D(Dims size, const AdaptivePoolOptions& o) { return make_pool<2, false>(size, o); }
Layer AdaptiveMaxPooling3D(Dims size, const AdaptivePoolOptions& o) { return make_pool<3, false>(size, o); }
Layer AdaptiveAveragePooling1D(Dims size, const AdaptivePoolOptions& o) {
  return make_pool<1, true>(size, o);
}
Layer AdaptiveAveragePooling2D(Dims size, const AdaptivePoolOptions& o) {
  return make_pool<2, true>(size, o);
}
Layer AdaptiveAveragePooling3D(Dims size, const AdaptivePoolOptions& o) {
  return make_pool<3, true>(size, o);
}

std::span<const ClassDef> classes_adaptive_pooling() {
  constexpr Family kLayer = Family::layer;
  static constexpr ClassDef rows[] = {
      {kLayer, "AdaptiveMaxPooling1D", "", make_default<AdaptivePoolingLayer<1, false>>, {"output_size"}},
      {kLayer, "AdaptiveMaxPooling2D", "", make_default<AdaptivePoolingLayer<2, false>>, {"output_size"}},
      {kLayer, "AdaptiveMaxPooling3D", "", make_default<AdaptivePoolingLayer<3, false>>, {"output_size"}},
      {kLayer, "AdaptiveAveragePooling1D", "", make_default<AdaptivePoolingLayer<1, true>>, {"output_size"}},
      {kLayer, "AdaptiveAveragePooling2D", "", make_default<AdaptivePoolingLayer<2, true>>, {"output_size"}},
      {kLayer, "AdaptiveAveragePooling3D", "", make_default<AdaptivePoolingLayer<3, true>>, {"output_size"}},
  };
  return rows;
}

}  // namespace plimsoll
