// Dense: activation(x @ kernel + bias) over the last axis.
#include "layers/base/parts.h"
#include "plimsoll/activations.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/core.h"
#include "plimsoll/ops/linalg.h"

namespace plimsoll {
namespace {

struct DenseLayer final : LayerBase {
  explicit DenseLayer(int64_t units = 1, DenseOptions options = {}) : units(units), o(std::move(options)) {
    set_activity_regularizer(std::move(o.activity_regularizer));
  }
  int64_t units;
  DenseOptions o;

  std::string_view class_name() const override { return "Dense"; }
  bool passes_mask() const override { return true; }
  void fields(Fields& f) override {
    f("units", units);
    f("activation", o.activation);
    f("use_bias", o.use_bias);
    f("kernel_initializer", o.kernel_initializer);
    f("bias_initializer", o.bias_initializer);
    f("kernel_regularizer", o.kernel_regularizer);
    f("bias_regularizer", o.bias_regularizer);
    f("kernel_constraint", o.kernel_constraint);
    f("bias_constraint", o.bias_constraint);
    f.refused("quantization_config");
  }
  Tensor call(Scope& s, const Tensor& x) override {
    require(units > 0, name(), "expected units > 0, got ", units);
    require(x.rank() >= 2, name(), "expected an input of at least 2 axes (batch, features), got shape ",
            x.shape());
    const Tensor y =
        matmul(x, s.weight("kernel", {x.dim(-1), units}, o.kernel_initializer,
                           {.regularizer = o.kernel_regularizer, .constraint = o.kernel_constraint}));
    return activate(o.activation, with_bias(s, y, {units}, o));
  }
};

}  // namespace

Layer Dense(int64_t units, const DenseOptions& options) {
  require(units > 0, "Dense", "expected units > 0, got ", units);
  return own_layer(std::make_shared<DenseLayer>(units, options), options);
}

std::span<const ClassDef> classes_dense() {
  static constexpr ClassDef rows[] = {{Family::layer, "Dense", "", make_default<DenseLayer>, {"units"}}};
  return rows;
}

}  // namespace plimsoll
