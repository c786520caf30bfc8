// UpSampling1D, UpSampling2D, UpSampling3D.
#include "layers/base/parts.h"
#include "layers/base/resize.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/reshaping.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

// Each element `times` over along one axis.
Tensor repeat(const Tensor& x, int axis, int64_t times, std::string_view place) {
  require(times > 0, place, "expected size > 0, got ", times);
  if (times == 1) return x;
  const Tensor spread = broadcast_to(expand_dims(x, axis + 1), x.shape().inserted(axis + 1, times));
  return reshape(spread, x.shape().with(axis, checked_mul(x.dim(axis), times, place)));
}

template <int rank>
struct UpSamplingLayer final : LayerBase {
  explicit UpSamplingLayer(Dims size = 2, UpSamplingOptions options = {})
      : size(std::move(size)), o(std::move(options)) {}
  Dims size;
  UpSamplingOptions o;

  std::string_view class_name() const override {
    return rank == 1 ? "UpSampling1D" : rank == 2 ? "UpSampling2D" : "UpSampling3D";
  }
  void fields(Fields& f) override {
    if (rank == 1) {
      int64_t one = size.of_rank(1, name())[0];
      f("size", one);
      size = Dims(one);
      return;
    }
    dims_field(f, "size", size, rank, name());
    f("data_format", o.data_format);
    if (rank == 2) f("interpolation", o.interpolation);
  }
  Tensor call(Scope&, const Tensor& x) override {
    require(x.rank() == rank + 2, name(), "expected an input of ", rank + 2, " axes, got shape ", x.shape());
    const bool first = is_channels_first(name(), o.data_format);
    const Ints sizes = size.of_rank(rank, name());
    if (rank == 2 && o.interpolation != "nearest") {
      const Tensor images = first ? channels_to_last(x) : x;
      const Tensor y = resize_images(images, checked_mul(images.dim(1), sizes[0], name()),
                                     checked_mul(images.dim(2), sizes[1 % sizes.size()], name()),
                                     o.interpolation, false, name());
      return first ? channels_to_first(y) : y;
    }
    Tensor y = x;
    for (int i = 0; i < rank; ++i) y = repeat(y, i + (first ? 2 : 1), sizes[static_cast<size_t>(i)], name());
    return y;
  }
};

}  // namespace

Layer UpSampling1D(int64_t size, const NameOptions& options) {
  return own_layer(std::make_shared<UpSamplingLayer<1>>(Dims(size)), options);
}
Layer UpSampling2D(Dims size, const UpSamplingOptions& options) {
  return own_layer(std::make_shared<UpSamplingLayer<2>>(std::move(size), options), options);
}
Layer UpSampling3D(Dims size, const FormatOptions& options) {
  return own_layer(std::make_shared<UpSamplingLayer<3>>(
                       std::move(size), UpSamplingOptions{.data_format = options.data_format}),
                   options);
}

std::span<const ClassDef> classes_up_sampling() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "UpSampling1D", "", make_default<UpSamplingLayer<1>>},
      {Family::layer, "UpSampling2D", "", make_default<UpSamplingLayer<2>>},
      {Family::layer, "UpSampling3D", "", make_default<UpSamplingLayer<3>>},
  };
  return rows;
}

}  // namespace plimsoll
