// TimeDistributed: one layer on every time step.
#include "layers/base/parts.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/recurrent.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

struct TimeDistributedLayer final : LayerBase {
  Layer layer;

  std::string_view class_name() const override { return "TimeDistributed"; }
  bool passes_mask() const override { return true; }
  void visit_inner(const std::function<void(std::string_view, const Layer&)>& visit) const override {
    if (layer) visit("layer", layer);
  }
  void fields(Fields& f) override { f("layer", layer); }

  // Axis 0 and 1 as one.
  static Tensor joined(const Tensor& x) {
    return reshape(x, x.shape().without(0).with(0, x.dim(0) * x.dim(1)));
  }

  // A layer that keeps statistics sees one step after the other, as in Keras.
  bool step_by_step(const Scope& s) const {
    return s.training() && layer->built() && !layer->non_trainable_weights().empty() && layer->trainable();
  }

  Tensor call(Scope& s, const Tensor& x) override {
    require(bool(layer), name(), "has no layer inside");
    require(x.rank() >= 3, name(), "expected an input (batch, time, features...), got shape ", x.shape());
    require(x.dim(1) > 0, name(), "expected at least one time step, got shape ", x.shape());
    if (step_by_step(s)) {
      std::vector<Tensor> ys;
      for (int64_t t = 0; t < x.dim(1); ++t) {
        ys.push_back(expand_dims(s.call(layer, squeeze(slice_axis(x, 1, t, t + 1), 1)), 1));
      }
      return concatenate(ys, 1);
    }
    const Tensor all = joined(x);
    const Tensor mask = s.mask(x);
    if (mask.defined() && mask.rank() > 2) s.set_mask(all, joined(mask));
    const Tensor y = s.call(layer, all);
    return reshape(y, y.shape().with(0, x.dim(1)).inserted(0, x.dim(0)));
  }
};

}  // namespace

Layer TimeDistributed(const Layer& layer, const WrapperOptions& options) {
  require(bool(layer), "TimeDistributed", "expected a layer, got none");
  auto made = std::make_shared<TimeDistributedLayer>();
  made->layer = layer;
  return own_layer(std::move(made), options);
}

std::span<const ClassDef> classes_time_distributed() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "TimeDistributed", "", make_default<TimeDistributedLayer>, {"layer"}}};
  return rows;
}

}  // namespace plimsoll
