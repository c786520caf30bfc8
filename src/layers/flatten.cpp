// Flatten: all axes but the batch become one.
#include "plimsoll/layers/core.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

struct FlattenLayer final : LayerBase {
  std::string_view class_name() const override { return "Flatten"; }
  Tensor call(Scope&, const Tensor& x) override {
    const int64_t rest = x.shape().elements() / std::max<int64_t>(x.dim(0), 1);
    return reshape(x, Shape{x.dim(0), rest});
  }
};

}  // namespace

Layer Flatten(const NameOptions& options) {
  return own_layer(std::make_shared<FlattenLayer>(), options.name);
}

std::span<const ClassDef> classes_flatten() {
  static constexpr ClassDef rows[] = {{Family::layer, "Flatten", "", make_default<FlattenLayer>}};
  return rows;
}

}  // namespace plimsoll
