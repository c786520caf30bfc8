// SpectralNormalization: in training, the kernel of the layer inside is divided by its largest singular value
// (by power iteration), and stays so.
#include "layers/base/borrowed.h"
#include "layers/base/parts.h"
#include "layers/base/trace.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/normalization.h"
#include "plimsoll/ops/linalg.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

struct SpectralNormalizationLayer final : LayerBase {
  Layer layer;
  int64_t power_iterations = 1;

  std::string_view class_name() const override { return "SpectralNormalization"; }
  void visit_inner(const std::function<void(std::string_view, const Layer&)>& visit) const override {
    if (layer) visit("layer", layer);
  }
  void fields(Fields& f) override {
    f("layer", layer);
    f("power_iterations", power_iterations);
  }

  // nullptr: the layer inside has none, or is not built.
  VariablePtr kernel() const {
    if (!layer) return nullptr;
    const VariablePtr found = layer->find_variable("kernel");
    return found != nullptr ? found : layer->find_variable("embeddings");
  }

  void normalize(Scope& s, const VariablePtr& variable, const Tensor& vector) const {
    const Tensor whole = s.trace().value(variable);
    const int64_t width = whole.dim(-1);
    const Tensor weights = reshape(whole, Ints{-1, width});
    const Tensor turned = transpose(weights, {1, 0});
    Tensor u = vector, v;
    for (int64_t i = 0; i < power_iterations; ++i) {
      v = unit_length(matmul(u, turned), {}, 1e-12);
      u = unit_length(matmul(v, weights), {}, 1e-12);
    }
    u = stop_gradient(u);
    v = stop_gradient(v);
    const Tensor sigma = reshape(matmul(matmul(v, weights), transpose(u, {1, 0})), Shape{});
    // A kernel of zeros stays one.
    const Tensor none = all(equal(whole, scalar_like(whole, 0)));
    s.update("vector_u", where(none, vector, u));
    s.trace().update(variable, whole / where(none, scalar_like(sigma, 1), sigma));
  }

  Tensor call(Scope& s, const Tensor& x) override {
    require(bool(layer), name(), "has no layer inside");
    constexpr int64_t kMost = 1000;
    require(power_iterations > 0 && power_iterations <= kMost, name(), "expected power_iterations from 1 to ",
            kMost, ", got ", power_iterations);
    if (!layer->built()) s.call(layer, x);
    const VariablePtr variable = kernel();
    require(variable != nullptr, name(), "expected a layer with a 'kernel' or 'embeddings', got ",
            layer->class_name());
    const Tensor vector =
        s.weight("vector_u", {1, variable->value.dim(-1)}, TruncatedNormal({.stddev = 0.02}),
                 {.trainable = false, .dtype = variable->value.dtype()});
    if (s.training()) normalize(s, variable, vector);
    return cast(s.call(layer, x), x.dtype());
  }
};

}  // namespace

Layer SpectralNormalization(const Layer& layer, const SpectralNormalizationOptions& options) {
  require(bool(layer), "SpectralNormalization", "expected a layer, got none");
  auto made = std::make_shared<SpectralNormalizationLayer>();
  made->layer = layer;
  made->power_iterations = options.power_iterations;
  return own_layer(std::move(made), options);
}

VariablePtr borrowed_kernel(const LayerBase& layer) {
  const auto* wrapper = dynamic_cast<const SpectralNormalizationLayer*>(&layer);
  return wrapper == nullptr ? nullptr : wrapper->kernel();
}

std::span<const ClassDef> classes_spectral_normalization() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "SpectralNormalization", "", make_default<SpectralNormalizationLayer>, {"layer"}}};
  return rows;
}

}  // namespace plimsoll
