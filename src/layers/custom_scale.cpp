// CustomScaleLayer: what keras.applications' Inception-ResNet brings of its own, x + scale * residual.
#include <span>

#include "plimsoll/error.h"
#include "plimsoll/layer.h"
#include "plimsoll/ops/math.h"

namespace plimsoll {
namespace {

struct CustomScaleLayer final : LayerBase {
  double scale = 1;
  std::string_view class_name() const override { return "CustomScaleLayer"; }
  void fields(Fields& f) override { f("scale", scale); }
  std::vector<Tensor> call_many(Scope&, std::span<const Tensor> xs) override {
    require(xs.size() == 2, name(), "expected two inputs, got ", xs.size());
    return {xs[0] + xs[1] * scale};
  }
};

}  // namespace

std::span<const ClassDef> classes_custom_scale() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "CustomScaleLayer", "", make_default<CustomScaleLayer>, {"scale"}}};
  return rows;
}

}  // namespace plimsoll
