// BatchNormalization: over all axes but one, with the statistics of the batch in training and moving ones
// otherwise.
#include "layers/base/parts.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/normalization.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/nn.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

constexpr double kMaskEpsilon = 1e-7;  // Keras's backend.epsilon(): no division by zero where all is masked

struct BatchNormalizationLayer final : LayerBase {
  explicit BatchNormalizationLayer(BatchNormalizationOptions options = {}) : o(std::move(options)) {}
  BatchNormalizationOptions o;
  bool synchronized = false, renorm = false;
  double renorm_momentum = 0.99;

  std::string_view class_name() const override { return "BatchNormalization"; }
  bool passes_mask() const override { return true; }
  void fields(Fields& f) override {
    // Keras 2 wrote a list of one.
    Ints axis = {o.axis};
    if (f.reading()) f("axis", axis);
    require(axis.size() == 1, class_name(), "expected one axis, got ", axis.size());
    o.axis = axis[0];
    if (!f.reading()) f("axis", o.axis);
    f("momentum", o.momentum);
    f("epsilon", o.epsilon);
    f("center", o.center);
    f("scale", o.scale);
    f("beta_initializer", o.beta_initializer);
    f("gamma_initializer", o.gamma_initializer);
    f("moving_mean_initializer", o.moving_mean_initializer);
    f("moving_variance_initializer", o.moving_variance_initializer);
    f("beta_regularizer", o.beta_regularizer);
    f("gamma_regularizer", o.gamma_regularizer);
    f("beta_constraint", o.beta_constraint);
    f("gamma_constraint", o.gamma_constraint);
    f("synchronized", synchronized);
    f("renorm", renorm);
    f.refused("renorm_clipping");
    f("renorm_momentum", renorm_momentum);
    if (synchronized) refuse(class_name(), "synchronized");
    if (renorm) refuse(class_name(), "renorm");
  }

  // The weights stay in their own dtype: statistics need it.
  struct Weights {
    Tensor gamma, beta, mean, variance;
  };
  Weights weights(Scope& s, int64_t channels) {
    const DType dtype = variable_dtype();
    const auto fixed = [&](double value) { return Tensor::full(dtype, {channels}, value); };
    Weights w{fixed(1), fixed(0), {}, {}};
    if (o.scale) {
      w.gamma =
          s.weight("gamma", {channels}, o.gamma_initializer,
                   {.regularizer = o.gamma_regularizer, .constraint = o.gamma_constraint, .dtype = dtype});
    }
    if (o.center) {
      w.beta = s.weight("beta", {channels}, o.beta_initializer,
                        {.regularizer = o.beta_regularizer, .constraint = o.beta_constraint, .dtype = dtype});
    }
    w.mean =
        s.weight("moving_mean", {channels}, o.moving_mean_initializer, {.trainable = false, .dtype = dtype});
    w.variance = s.weight("moving_variance", {channels}, o.moving_variance_initializer,
                          {.trainable = false, .dtype = dtype});
    return w;
  }

  void move(Scope& s, const Weights& w, const Tensor& mean, const Tensor& variance) const {
    s.update("moving_mean", w.mean * o.momentum + cast(mean, w.mean.dtype()) * (1 - o.momentum));
    s.update("moving_variance",
             w.variance * o.momentum + cast(variance, w.variance.dtype()) * (1 - o.momentum));
  }

  Tensor normalize(const Tensor& x, const Tensor& mean, const Tensor& variance, const Weights& w) const {
    const Tensor scale = rsqrt(variance + o.epsilon) * w.gamma;
    return x * scale + (w.beta - mean * scale);
  }

  // Statistics of the unmasked steps alone.
  Tensor train_masked(Scope& s, const Tensor& x, const Tensor& mask, const Weights& w) const {
    require(mask.rank() == x.rank() - 1, name(),
            "expected a mask with one axis less than the input, got mask ", mask.shape(), " and input ",
            x.shape());
    Ints axes;
    for (int i = 0; i < x.rank() - 1; ++i) axes.push_back(i);
    const Tensor kept = broadcast_to(expand_dims(mask, -1), x.shape());
    const Tensor zero = scalar_like(x, 0);
    const Tensor count = sum(cast(kept, x.dtype()), axes) + kMaskEpsilon;
    const Tensor mean = sum(where(kept, x, zero), axes) / count;
    const Tensor variance = sum(square(where(kept, x - mean, zero)), axes) / count;
    move(s, w, mean, variance);
    return normalize(x, mean, variance, w);
  }

  Tensor call(Scope& s, const Tensor& input) override {
    if (synchronized) refuse(name(), "synchronized");
    const int axis = normalize_axis(o.axis, input.rank(), name());
    const Weights w = weights(s, input.dim(axis));
    const Tensor mask = s.mask(input);
    const Tensor x = axis_to_last(input, axis);
    Tensor y;
    if (!s.training() || !trainable()) {
      y = batch_norm_inference(x, w.mean, w.variance, w.gamma, w.beta, o.epsilon);
    } else if (mask.defined()) {
      require(axis == input.rank() - 1, name(), "expected the last axis for an input with a mask, got axis ",
              o.axis);
      y = train_masked(s, cast(x, w.mean.dtype()), mask, w);
    } else {
      const std::vector<Tensor> parts = batch_norm(x, w.gamma, w.beta, o.epsilon);
      move(s, w, parts[1], parts[2]);
      y = parts[0];
    }
    return axis_from_last(cast(y, s.compute_dtype()), axis);
  }
};

}  // namespace

Layer BatchNormalization(const BatchNormalizationOptions& options) {
  return own_layer(std::make_shared<BatchNormalizationLayer>(options), options);
}

std::span<const ClassDef> classes_batch_normalization() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "BatchNormalization", "", make_default<BatchNormalizationLayer>}};
  return rows;
}

}  // namespace plimsoll
