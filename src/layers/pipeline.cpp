// Pipeline: layers one after the other, as one layer.
#include <map>

#include "layers/base/parts.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/preprocessing.h"

namespace plimsoll {
namespace {

struct PipelineLayer final : LayerBase {
  std::vector<Layer> layers;
  std::string_view class_name() const override { return "Pipeline"; }
  bool casts_inputs() const override { return false; }
  void fields(Fields& f) override { f("layers", layers); }
  void visit_inner(const std::function<void(std::string_view, const Layer&)>& visit) const override {
    visit_list("layers", layers, visit);
  }
  std::vector<Tensor> call_many(Scope& s, std::span<const Tensor> xs) override {
    std::vector<Tensor> values(xs.begin(), xs.end());
    for (const Layer& layer : layers) values = s.call(layer, values);
    return values;
  }
};

}  // namespace

Layer Pipeline(std::vector<Layer> layers, const NameOptions& options) {
  auto made = std::make_shared<PipelineLayer>();
  for (const Layer& layer : layers) require(layer.get() != nullptr, "Pipeline", "expected layers, got none");
  made->layers = std::move(layers);
  return own_layer(std::move(made), options);
}

std::span<const ClassDef> classes_pipeline() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "Pipeline", "", make_default<PipelineLayer>, {"layers"}}};
  return rows;
}

}  // namespace plimsoll
