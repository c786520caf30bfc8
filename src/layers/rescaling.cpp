// Rescaling and Normalization: x * scale + offset with given numbers, or with the mean and variance of the
// data.
#include <algorithm>
#include <cstring>

#include "layers/base/adaptable.h"
#include "layers/base/parts.h"
#include "layers/base/trace.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/preprocessing.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

Tensor numbers(const std::vector<double>& values, DType dtype) {
  const Shape shape = values.size() == 1 ? Shape() : Shape{std::ssize(values)};
  return cast(Tensor::from<double>(values, shape), dtype);
}

struct RescalingLayer final : LayerBase {
  explicit RescalingLayer(std::vector<double> scale = {1}, std::vector<double> offset = {0})
      : scale(std::move(scale)), offset(std::move(offset)) {}
  std::vector<double> scale, offset;
  std::string_view class_name() const override { return "Rescaling"; }
  bool passes_mask() const override { return true; }
  void fields(Fields& f) override {
    f("scale", scale);
    f("offset", offset);
  }
  Tensor call(Scope& s, const Tensor& x) override {
    require(!scale.empty() && !offset.empty(), name(), "expected a scale and an offset");
    const DType dtype = s.compute_dtype();
    return cast(x, dtype) * numbers(scale, dtype) + numbers(offset, dtype);
  }
};

struct NormalizationLayer final : LayerBase, Adaptable {
  explicit NormalizationLayer(NormalizationOptions options = {}) : o(std::move(options)) {}
  NormalizationOptions o;
  void adapt(const Layer& self, const Tensor& data) override;
  std::string_view class_name() const override { return "Normalization"; }
  bool passes_mask() const override { return true; }
  void fields(Fields& f) override {
    f("axis", o.axis);
    f("invert", o.invert);
    f("mean", o.mean);
    f("variance", o.variance);
  }

  // The axes kept apart, in order.
  Ints kept(int rank) const {
    Ints axes;
    for (const int64_t axis : o.axis) axes.push_back(normalize_axis(axis, rank, name()));
    std::sort(axes.begin(), axes.end());
    return axes;
  }
  // Given numbers stand for the last kept axes, as many as they fill.
  Tensor given(const std::vector<double>& values, const Tensor& x, DType dtype) const {
    Ints sizes(static_cast<size_t>(x.rank()), 1);
    const Ints axes = kept(x.rank());
    int64_t filled = 1;
    for (size_t i = axes.size(); i > 0 && filled < std::ssize(values); --i) {
      const auto axis = static_cast<size_t>(axes[i - 1]);
      sizes[axis] = x.dim(static_cast<int>(axis));
      filled *= sizes[axis];
    }
    require(filled == std::ssize(values) || values.size() == 1, name(),
            "expected one mean and variance, or one for each of ", filled, " elements along its axes, got ",
            values.size());
    if (values.size() == 1) return numbers(values, dtype);
    return reshape(numbers(values, dtype), Shape(sizes));
  }

  Tensor call(Scope& s, const Tensor& input) override {
    require(o.mean.empty() == o.variance.empty() && o.mean.size() == o.variance.size(), name(),
            "expected both mean and variance or neither, as many each; got ", o.mean.size(), " and ",
            o.variance.size());
    const DType dtype = s.compute_dtype();
    const Tensor x = cast(input, dtype);
    Tensor mean, variance;
    if (!o.mean.empty()) {
      mean = given(o.mean, x, dtype);
      variance = given(o.variance, x, dtype);
    } else {
      Ints shape, spread(static_cast<size_t>(x.rank()), 1);
      for (const int64_t axis : kept(x.rank())) {
        shape.push_back(x.dim(static_cast<int>(axis)));
        spread[static_cast<size_t>(axis)] = shape.back();
      }
      mean = reshape(s.weight("mean", Shape(shape), "zeros", {.trainable = false}), Shape(spread));
      variance = reshape(s.weight("variance", Shape(shape), "ones", {.trainable = false}), Shape(spread));
      s.weight("count", {}, "zeros", {.trainable = false, .dtype = DType::i32});
    }
    constexpr double kLeast = 1e-7;
    const Tensor deviation = maximum(sqrt(variance), scalar_like(variance, kLeast));
    return o.invert ? mean + x * deviation : (x - mean) / deviation;
  }
};

void store(const LayerBase& layer, std::string_view name, const Tensor& value) {
  const Tensor& to = layer.find_variable(name)->value;
  const Tensor from = cast(value, to.dtype());
  std::memcpy(to.data(), from.data(), static_cast<size_t>(byte_size(to.dtype(), to.shape())));
}

void NormalizationLayer::adapt(const Layer& self, const Tensor& data) {
  require(o.mean.empty(), name(), "was given its mean and variance: there is nothing to adapt");
  require(data.rank() >= 1 && data.dim(0) > 0, name(), "expected data to adapt to, got shape ", data.shape());
  if (!built()) {
    Graph graph;
    Trace trace(graph, false);
    const Tensor x = graph.input("x", data.dtype(), data.shape());
    trace.call(self, {&x, 1});
  }
  const Ints apart = kept(data.rank());
  Ints reduced;
  Ints shape;
  for (int i = 0; i < data.rank(); ++i) {
    if (std::find(apart.begin(), apart.end(), i) == apart.end())
      reduced.push_back(i);
    else
      shape.push_back(data.dim(i));
  }
  const VariablePtr held = find_variable("mean");
  require(held->value.shape() == Shape(shape), name(), "was built for ", held->value.shape(),
          ", the data asks for ", Shape(shape));
  // In double: data of large mean and small variance.
  const Tensor x = cast(data, DType::f64);
  const Tensor average = reduced.empty() ? x : mean(x, reduced);
  store(*this, "mean", average);
  store(*this, "variance", reduced.empty() ? x * 0.0 : mean(square(x - mean(x, reduced, true)), reduced));
}

}  // namespace

Layer Rescaling(std::vector<double> scale, const RescalingOptions& options) {
  return own_layer(std::make_shared<RescalingLayer>(std::move(scale), options.offset), options);
}
Layer Rescaling(double scale, const RescalingOptions& options) {
  return Rescaling(std::vector<double>{scale}, options);
}
Layer Normalization(const NormalizationOptions& options) {
  return own_layer(std::make_shared<NormalizationLayer>(options), options);
}

void adapt(const Layer& layer, const Tensor& data) {
  auto* learner = dynamic_cast<Adaptable*>(layer.get());
  require(learner != nullptr, "adapt",
          "expected a Normalization, IntegerLookup or Discretization layer, got ",
          layer ? layer->class_name() : "none");
  learner->adapt(layer, data);
}

std::span<const ClassDef> classes_rescaling() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "Rescaling", "", make_default<RescalingLayer>, {"scale"}},
      {Family::layer, "Normalization", "", make_default<NormalizationLayer>},
  };
  return rows;
}

}  // namespace plimsoll
