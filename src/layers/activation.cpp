// Activation, ReLU, LeakyReLU, PReLU, ELU, Softmax, ActivityRegularization.
#include "plimsoll/layers/activation.h"

#include "layers/base/parts.h"
#include "layers/base/plain_activation.h"
#include "plimsoll/activations.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/regularization.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/nn.h"
#include "plimsoll/ops/reduce.h"

namespace plimsoll {
namespace {

struct ElementwiseLayer : LayerBase {
  bool passes_mask() const override { return true; }
};

struct PlainLayer : ElementwiseLayer, PlainActivation {
  Tensor call(Scope&, const Tensor& x) override { return apply(x); }
};

struct ActivationLayer final : PlainLayer {
  explicit ActivationLayer(std::string activation = "linear") : activation(std::move(activation)) {}
  std::string activation;
  std::string_view class_name() const override { return "Activation"; }
  void fields(Fields& f) override { f("activation", activation); }
  Tensor apply(const Tensor& x) const override { return activate(activation, x); }
};

struct ReLULayer final : PlainLayer {
  explicit ReLULayer(ReLUOptions options = {}) : o(std::move(options)) {}
  ReLUOptions o;
  std::string_view class_name() const override { return "ReLU"; }
  void fields(Fields& f) override {
    f("max_value", o.max_value);
    f("negative_slope", o.negative_slope);
    f("threshold", o.threshold);
  }
  Tensor apply(const Tensor& x) const override {
    require(!o.max_value || *o.max_value >= 0, name(), "expected max_value >= 0, got ",
            o.max_value.value_or(0));
    require(o.negative_slope >= 0, name(), "expected negative_slope >= 0, got ", o.negative_slope);
    require(o.threshold >= 0, name(), "expected threshold >= 0, got ", o.threshold);
    if (o.negative_slope != 0 && !o.max_value && o.threshold == 0) return leaky_relu(x, o.negative_slope);
    Tensor y =
        o.threshold == 0 ? relu(x) : where(greater(x, scalar_like(x, o.threshold)), x, scalar_like(x, 0));
    if (o.max_value) y = clip(y, 0, *o.max_value);
    if (o.negative_slope != 0) y = y - relu(o.threshold - x) * o.negative_slope;
    return y;
  }
};

struct LeakyReLULayer final : PlainLayer {
  explicit LeakyReLULayer(double slope = 0.3) : negative_slope(slope) {}
  double negative_slope;
  std::string_view class_name() const override { return "LeakyReLU"; }
  void fields(Fields& f) override { f("negative_slope", negative_slope); }
  Tensor apply(const Tensor& x) const override { return leaky_relu(x, negative_slope); }
};

struct ELULayer final : PlainLayer {
  explicit ELULayer(double alpha = 1) : alpha(alpha) {}
  double alpha;
  std::string_view class_name() const override { return "ELU"; }
  void fields(Fields& f) override { f("alpha", alpha); }
  Tensor apply(const Tensor& x) const override { return elu(x, alpha); }
};

struct PReLULayer final : ElementwiseLayer {
  explicit PReLULayer(PReLUOptions options = {}) : o(std::move(options)) {}
  PReLUOptions o;
  std::string_view class_name() const override { return "PReLU"; }
  void fields(Fields& f) override {
    f("alpha_initializer", o.alpha_initializer);
    f("alpha_regularizer", o.alpha_regularizer);
    f("alpha_constraint", o.alpha_constraint);
    f("shared_axes", o.shared_axes);
  }
  Tensor call(Scope& s, const Tensor& x) override {
    require(x.rank() >= 1, name(), "expected a batch, got shape ", x.shape());
    Ints shape(x.shape().begin() + 1, x.shape().end());
    for (const int64_t axis : o.shared_axes) {
      require(axis >= 1 && axis < x.rank(), name(), "expected shared_axes between 1 and ", x.rank() - 1,
              ", got ", axis);
      shape[static_cast<size_t>(axis - 1)] = 1;
    }
    const Tensor alpha = s.weight("alpha", Shape(shape), o.alpha_initializer,
                                  {.regularizer = o.alpha_regularizer, .constraint = o.alpha_constraint});
    return relu(x) - alpha * relu(negative(x));
  }
};

struct SoftmaxLayer final : ElementwiseLayer, PlainActivation {
  explicit SoftmaxLayer(Ints axis = {-1}) : axis(std::move(axis)) {}
  Ints axis;
  std::string_view class_name() const override { return "Softmax"; }
  void fields(Fields& f) override {
    if (f.reading() || axis.size() != 1) return f("axis", axis);
    f("axis", axis[0]);
  }
  Tensor call(Scope& s, const Tensor& x) override {
    Tensor mask = s.argument("mask");
    if (!mask.defined()) mask = s.mask(x);
    if (mask.defined() && mask.dtype() != DType::boolean) mask = greater(mask, scalar_like(mask, 0.5));
    // As low as the dtype allows in a sum.
    const double low = x.dtype() == DType::f16 ? -3e4 : -1e9;
    const Tensor logits = mask.defined() ? where(mask, x, scalar_like(x, low)) : x;
    const Tensor y = apply(logits);
    return mask.defined() ? where(mask, y, scalar_like(y, 0)) : y;
  }
  Tensor apply(const Tensor& x) const override {
    require(!axis.empty(), name(), "expected at least one axis");
    if (axis.size() == 1) return softmax(x, static_cast<int>(axis[0]));
    const Tensor e = exp(x - max(x, axis, true));
    return e / sum(e, axis, true);
  }
};

struct ActivityRegularizationLayer final : ElementwiseLayer {
  explicit ActivityRegularizationLayer(double l1 = 0, double l2 = 0) : l1(l1), l2(l2) {}
  double l1, l2;
  std::string_view class_name() const override { return "ActivityRegularization"; }
  void fields(Fields& f) override {
    f("l1", l1);
    f("l2", l2);
  }
  Tensor call(Scope& s, const Tensor& x) override {
    require(x.rank() >= 1 && x.dim(0) > 0, name(), "expected a batch, got shape ", x.shape());
    s.add_loss(L1L2(l1, l2)->loss(x) / static_cast<double>(x.dim(0)));
    return x;
  }
};

}  // namespace

Layer Activation(std::string activation, const NameOptions& options) {
  return own_layer(std::make_shared<ActivationLayer>(std::move(activation)), options);
}
Layer ReLU(const ReLUOptions& options) { return own_layer(std::make_shared<ReLULayer>(options), options); }
Layer LeakyReLU(double negative_slope, const NameOptions& options) {
  return own_layer(std::make_shared<LeakyReLULayer>(negative_slope), options);
}
Layer ELU(double alpha, const NameOptions& options) {
  return own_layer(std::make_shared<ELULayer>(alpha), options);
}
Layer PReLU(const PReLUOptions& options) { return own_layer(std::make_shared<PReLULayer>(options), options); }
Layer Softmax(Ints axis, const NameOptions& options) {
  return own_layer(std::make_shared<SoftmaxLayer>(std::move(axis)), options);
}
Layer ActivityRegularization(double l1, double l2, const NameOptions& options) {
  return own_layer(std::make_shared<ActivityRegularizationLayer>(l1, l2), options);
}

std::span<const ClassDef> classes_activation() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "Activation", "", make_default<ActivationLayer>, {"activation"}},
      {Family::layer, "ReLU", "", make_default<ReLULayer>},
      {Family::layer, "LeakyReLU", "", make_default<LeakyReLULayer>},
      {Family::layer, "ELU", "", make_default<ELULayer>},
      {Family::layer, "PReLU", "", make_default<PReLULayer>},
      {Family::layer, "Softmax", "", make_default<SoftmaxLayer>},
      {Family::layer, "ActivityRegularization", "", make_default<ActivityRegularizationLayer>},
  };
  return rows;
}

}  // namespace plimsoll
