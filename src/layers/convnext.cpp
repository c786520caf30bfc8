// LayerScale, StochasticDepth: what keras.applications' ConvNeXt brings of its own.
#include "plimsoll/error.h"
#include "plimsoll/layers/core.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/random.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

struct LayerScaleLayer final : LayerBase {
  double init_values = 1e-6;
  int64_t projection_dim = 1;
  std::string_view class_name() const override { return "LayerScale"; }
  void fields(Fields& f) override {
    f("init_values", init_values);
    f("projection_dim", projection_dim);
  }
  Tensor call(Scope& s, const Tensor& x) override {
    require(projection_dim > 0, name(), "expected projection_dim > 0, got ", projection_dim);
    return x * s.weight("gamma", {projection_dim}, Constant(init_values));
  }
};

// Drops whole samples of a residual path.
struct StochasticDepthLayer final : LayerBase {
  double drop_path_rate = 0;
  std::string_view class_name() const override { return "StochasticDepth"; }
  void fields(Fields& f) override { f("drop_path_rate", drop_path_rate); }
  Tensor call(Scope& s, const Tensor& x) override {
    require(drop_path_rate >= 0 && drop_path_rate < 1, name(),
            "expected a rate of at least 0 and below 1, got ", drop_path_rate);
    require(x.rank() >= 1, name(), "expected a batch, got shape ", x.shape());
    if (!s.training() || drop_path_rate == 0) return x;
    Ints sizes(static_cast<size_t>(x.rank()), 1);
    sizes[0] = x.dim(0);
    return x * dropout(Tensor::full(x.dtype(), Shape(sizes), 1), s.random_key({}), drop_path_rate);
  }
};

}  // namespace

std::span<const ClassDef> classes_convnext() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "LayerScale", "", make_default<LayerScaleLayer>, {"init_values", "projection_dim"}},
      {Family::layer, "StochasticDepth", "", make_default<StochasticDepthLayer>, {"drop_path_rate"}},
  };
  return rows;
}

}  // namespace plimsoll
