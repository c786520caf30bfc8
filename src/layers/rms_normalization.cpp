// RMSNormalization: x divided by the root of the mean of its squares along the axes, times a learnt scale.
#include <algorithm>

#include "layers/base/parts.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/normalization.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

struct RMSNormalizationLayer final : LayerBase {
  explicit RMSNormalizationLayer(RMSNormalizationOptions options = {}) : o(std::move(options)) {}
  RMSNormalizationOptions o;

  std::string_view class_name() const override { return "RMSNormalization"; }
  void fields(Fields& f) override {
    // Keras writes one axis as a number, until the layer is built.
    if (f.reading() || built() || o.axis.size() != 1)
      f("axis", o.axis);
    else
      f("axis", o.axis[0]);
    f("epsilon", o.epsilon);
  }
  Tensor call(Scope& s, const Tensor& x) override {
    require(!o.axis.empty(), name(), "expected at least one axis");
    Ints axes, sizes;
    std::sort(o.axis.begin(), o.axis.end());
    for (const int64_t axis : o.axis) {
      axes.push_back(normalize_axis(axis, x.rank(), name()));
      sizes.push_back(x.dim(static_cast<int>(axes.back())));
    }
    // Keras multiplies by the scale as it is: along the last axes, whichever the layer's are.
    for (size_t i = 0; i < sizes.size(); ++i) {
      const int back = static_cast<int>(i) - static_cast<int>(sizes.size());
      require(sizes[i] == x.dim(back), name(), "expected the last axes, got axes of sizes ", Shape(sizes),
              " of an input of shape ", x.shape());
    }
    const Tensor scale = s.weight("scale", Shape(sizes), "ones", {.dtype = variable_dtype()});
    const DType wide = x.dtype() == DType::f64 ? DType::f64 : DType::f32;
    const Tensor exact = cast(x, wide);
    const Tensor y = exact * rsqrt(mean(square(exact), axes, true) + o.epsilon) * cast(scale, wide);
    return cast(y, x.dtype());
  }
};

}  // namespace

Layer RMSNormalization(const RMSNormalizationOptions& options) {
  return own_layer(std::make_shared<RMSNormalizationLayer>(options), options);
}

std::span<const ClassDef> classes_rms_normalization() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "RMSNormalization", "", make_default<RMSNormalizationLayer>}};
  return rows;
}

}  // namespace plimsoll
