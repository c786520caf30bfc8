// LayerNormalization, GroupNormalization, UnitNormalization: statistics of each sample by itself.
#include <algorithm>

#include "layers/base/parts.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/normalization.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/nn.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

template <class Options>
void weight_fields(Fields& f, Options& o) {
  f("beta_initializer", o.beta_initializer);
  f("gamma_initializer", o.gamma_initializer);
  f("beta_regularizer", o.beta_regularizer);
  f("gamma_regularizer", o.gamma_regularizer);
  f("beta_constraint", o.beta_constraint);
  f("gamma_constraint", o.gamma_constraint);
}

// Undefined where the layer has none. They stay in their own dtype, as the statistics do.
template <class Options>
Tensor gamma_of(Scope& s, const Shape& shape, const Options& o, DType dtype) {
  if (!o.scale) return {};
  return s.weight("gamma", shape, o.gamma_initializer,
                  {.regularizer = o.gamma_regularizer, .constraint = o.gamma_constraint, .dtype = dtype});
}
template <class Options>
Tensor beta_of(Scope& s, const Shape& shape, const Options& o, DType dtype) {
  if (!o.center) return {};
  return s.weight("beta", shape, o.beta_initializer,
                  {.regularizer = o.beta_regularizer, .constraint = o.beta_constraint, .dtype = dtype});
}

// Halves are computed in float32.
DType wide(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

Tensor standardize(const Tensor& x, const Ints& axes, double epsilon) {
  const Tensor centred = x - mean(x, axes, true);
  return centred * rsqrt(mean(square(centred), axes, true) + epsilon);
}

// Keras writes one axis as a number.
void axis_field(Fields& f, Ints& axis) {
  if (f.reading() || axis.size() != 1) return f("axis", axis);
  f("axis", axis[0]);
}

struct LayerNormalizationLayer final : LayerBase {
  explicit LayerNormalizationLayer(LayerNormalizationOptions options = {}) : o(std::move(options)) {}
  LayerNormalizationOptions o;
  bool rms_scaling = false;

  std::string_view class_name() const override { return "LayerNormalization"; }
  bool passes_mask() const override { return true; }
  void fields(Fields& f) override {
    axis_field(f, o.axis);
    f("epsilon", o.epsilon);
    f("center", o.center);
    f("scale", o.scale);
    f("rms_scaling", rms_scaling);
    weight_fields(f, o);
    if (rms_scaling) refuse(class_name(), "rms_scaling");
  }

  Tensor call(Scope& s, const Tensor& x) override {
    Ints axes, sizes;
    Ints spread(static_cast<size_t>(x.rank()), 1);
    for (const int64_t axis : o.axis) axes.push_back(normalize_axis(axis, x.rank(), name()));
    std::sort(axes.begin(), axes.end());
    for (const int64_t axis : axes) {
      sizes.push_back(x.dim(static_cast<int>(axis)));
      spread[static_cast<size_t>(axis)] = sizes.back();
    }
    require(!axes.empty(), name(), "expected at least one axis");
    const Shape shape(sizes);
    const Tensor gamma = gamma_of(s, shape, o, variable_dtype());
    const Tensor beta = beta_of(s, shape, o, variable_dtype());
    const DType dtype = wide(x.dtype());
    if (axes.size() == 1 && axes[0] == x.rank() - 1) {
      const auto given = [&](const Tensor& w, double otherwise) {
        return w.defined() ? cast(w, dtype) : Tensor::full(dtype, shape, otherwise);
      };
      return cast(layer_norm(x, given(gamma, 1), given(beta, 0), o.epsilon), s.compute_dtype());
    }
    Tensor y = standardize(cast(x, dtype), axes, o.epsilon);
    if (gamma.defined()) y = y * cast(reshape(gamma, Shape(spread)), dtype);
    if (beta.defined()) y = y + cast(reshape(beta, Shape(spread)), dtype);
    return cast(y, s.compute_dtype());
  }
};

struct GroupNormalizationLayer final : LayerBase {
  explicit GroupNormalizationLayer(GroupNormalizationOptions options = {}) : o(std::move(options)) {}
  GroupNormalizationOptions o;

  std::string_view class_name() const override { return "GroupNormalization"; }
  bool passes_mask() const override { return true; }
  void fields(Fields& f) override {
    f("groups", o.groups);
    f("axis", o.axis);
    f("epsilon", o.epsilon);
    f("center", o.center);
    f("scale", o.scale);
    weight_fields(f, o);
  }

  Tensor call(Scope& s, const Tensor& x) override {
    const int axis = normalize_axis(o.axis, x.rank(), name());
    const int64_t channels = x.dim(axis);
    const int64_t groups = o.groups == -1 ? channels : o.groups;
    require(axis > 0 && groups > 0 && channels % groups == 0, name(), "expected groups that divide ",
            channels, " channels, got ", groups);
    const Tensor gamma = gamma_of(s, {channels}, o, variable_dtype());
    const Tensor beta = beta_of(s, {channels}, o, variable_dtype());
    const Shape grouped = x.shape().with(axis, channels / groups).inserted(axis, groups);
    Ints axes;
    for (int i = 1; i < grouped.rank(); ++i) {
      if (i != axis) axes.push_back(i);
    }
    const DType dtype = wide(x.dtype());
    Tensor y = reshape(standardize(reshape(cast(x, dtype), grouped), axes, o.epsilon), x.shape());
    if (gamma.defined()) y = y * cast(along_axis(gamma, axis, x.rank()), dtype);
    if (beta.defined()) y = y + cast(along_axis(beta, axis, x.rank()), dtype);
    return cast(y, s.compute_dtype());
  }
};

struct UnitNormalizationLayer final : LayerBase {
  explicit UnitNormalizationLayer(UnitNormalizationOptions options = {}) : o(std::move(options)) {}
  UnitNormalizationOptions o;

  std::string_view class_name() const override { return "UnitNormalization"; }
  bool passes_mask() const override { return true; }
  void fields(Fields& f) override { axis_field(f, o.axis); }
  Tensor call(Scope&, const Tensor& x) override {
    constexpr double kEpsilon = 1e-12;
    return unit_length(x, o.axis, kEpsilon);
  }
};

}  // namespace

Layer LayerNormalization(const LayerNormalizationOptions& options) {
  return own_layer(std::make_shared<LayerNormalizationLayer>(options), options);
}
Layer GroupNormalization(const GroupNormalizationOptions& options) {
  return own_layer(std::make_shared<GroupNormalizationLayer>(options), options);
}
Layer UnitNormalization(const UnitNormalizationOptions& options) {
  return own_layer(std::make_shared<UnitNormalizationLayer>(options), options);
}

std::span<const ClassDef> classes_layer_normalization() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "LayerNormalization", "", make_default<LayerNormalizationLayer>},
      {Family::layer, "GroupNormalization", "", make_default<GroupNormalizationLayer>},
      {Family::layer, "UnitNormalization", "", make_default<UnitNormalizationLayer>},
  };
  return rows;
}

}  // namespace plimsoll
