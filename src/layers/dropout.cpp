// Dropout, AlphaDropout, SpatialDropout1D/2D/3D: in training, zeroes elements with probability `rate` and
// scales the rest up. GaussianNoise, GaussianDropout: noise added or multiplied.
#include <cmath>

#include "layers/base/parts.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/regularization.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/random.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

// One draw for each element of `noise`, which broadcasts over x.
Tensor drop(const Tensor& x, const Tensor& key, double rate, const Shape& noise) {
  if (rate == 1) return x * 0.0;
  if (noise == x.shape()) return dropout(x, key, rate);
  return x * dropout(Tensor::full(x.dtype(), noise, 1), key, rate);
}

struct DropoutBase : LayerBase {
  DropoutBase(double rate, std::optional<int64_t> seed) : rate(rate), seed(seed) {}
  double rate;
  std::optional<int64_t> seed;

  bool passes_mask() const override { return true; }
  virtual Shape noise_of(const Tensor& x) const = 0;
  Tensor call(Scope& s, const Tensor& x) override {
    require(rate >= 0 && rate <= 1, name(), "expected a rate between 0 and 1, got ", rate);
    const Shape noise = noise_of(x);
    if (rate == 0) return x;
    s.add_seed_generator(seed);
    return s.training() ? dropped(x, s.random_key(seed), noise) : x;
  }
  // One draw for each element of `noise`, which broadcasts over x.
  virtual Tensor dropped(const Tensor& x, const Tensor& key, const Shape& noise) const {
    return drop(x, key, rate, noise);
  }
};

struct DropoutLayer : DropoutBase {
  explicit DropoutLayer(double rate = 0, DropoutOptions options = {})
      : DropoutBase(rate, options.seed), noise_shape(std::move(options.noise_shape)) {}
  Dims noise_shape;

  std::string_view class_name() const override { return "Dropout"; }
  void fields(Fields& f) override {
    f("rate", rate);
    f("seed", seed);
    f("noise_shape", noise_shape);
  }
  Shape noise_of(const Tensor& x) const override {
    if (noise_shape.empty()) return x.shape();
    require(std::ssize(noise_shape) == x.rank(), name(), "expected a noise_shape of ", x.rank(),
            " axes, got ", noise_shape.size());
    Ints sizes = noise_shape;
    for (int i = 0; i < x.rank(); ++i) {
      int64_t& size = sizes[static_cast<size_t>(i)];
      if (size < 0) size = x.dim(i);
      require(size == 1 || size == x.dim(i), name(), "noise_shape has ", size, " on axis ", i,
              " of an input of shape ", x.shape());
    }
    return Shape(sizes);
  }
};

struct AlphaDropoutLayer final : DropoutLayer {
  using DropoutLayer::DropoutLayer;
  std::string_view class_name() const override { return "AlphaDropout"; }
  // What is dropped takes the value that a selu tends to; then mean and variance are put back.
  Tensor dropped(const Tensor& x, const Tensor& key, const Shape& noise) const override {
    constexpr double kLeast = -1.6732632423543772 * 1.0507009873554805;
    const double a = 1 / std::sqrt((1 - rate) * (1 + rate * kLeast * kLeast));
    const Tensor drawn = random_uniform(key, noise, DType::f32);
    const Tensor kept = greater_equal(drawn, scalar_like(drawn, rate));
    return where(kept, x, scalar_like(x, kLeast)) * a - a * kLeast * rate;
  }
};

template <int rank>
struct SpatialDropoutLayer final : DropoutBase {
  explicit SpatialDropoutLayer(double rate = 0, SpatialDropoutOptions options = {})
      : DropoutBase(rate, options.seed), data_format(std::move(options.data_format)) {}
  std::string data_format;

  std::string_view class_name() const override {
    return rank == 1 ? "SpatialDropout1D" : rank == 2 ? "SpatialDropout2D" : "SpatialDropout3D";
  }
  bool takes_trainable() const override { return false; }
  void fields(Fields& f) override {
    f("rate", rate);
    f("seed", seed);
    if (rank != 1) f("data_format", data_format);
  }
  Shape noise_of(const Tensor& x) const override {
    require(x.rank() == rank + 2, name(), "expected an input of ", rank + 2, " axes, got shape ", x.shape());
    const bool first = is_channels_first(name(), data_format);
    require(rank != 1 || !first, name(), "is channels_last only");
    Ints sizes(static_cast<size_t>(x.rank()), 1);
    sizes.front() = x.dim(0);
    sizes[first ? 1 : sizes.size() - 1] = x.dim(first ? 1 : -1);
    return Shape(sizes);
  }
};

struct NoiseBase : LayerBase {
  NoiseBase(double amount, NoiseOptions options) : amount(amount), seed(options.seed) {}
  double amount;
  std::optional<int64_t> seed;
  bool passes_mask() const override { return true; }
  Tensor draw(Scope& s, const Tensor& x, double mean, double stddev) const {
    return random_normal(s.random_key(seed), x.shape(), x.dtype(), mean, stddev);
  }
};

struct GaussianNoiseLayer final : NoiseBase {
  explicit GaussianNoiseLayer(double stddev = 0, NoiseOptions options = {})
      : NoiseBase(stddev, std::move(options)) {}
  std::string_view class_name() const override { return "GaussianNoise"; }
  void fields(Fields& f) override {
    f("stddev", amount);
    f("seed", seed);
  }
  Tensor call(Scope& s, const Tensor& x) override {
    require(amount >= 0, name(), "expected stddev >= 0, got ", amount);
    if (amount == 0) return x;
    s.add_seed_generator(seed);
    return s.training() ? x + draw(s, x, 0, amount) : x;
  }
};

struct GaussianDropoutLayer final : NoiseBase {
  explicit GaussianDropoutLayer(double rate = 0, NoiseOptions options = {})
      : NoiseBase(rate, std::move(options)) {}
  std::string_view class_name() const override { return "GaussianDropout"; }
  void fields(Fields& f) override {
    f("rate", amount);
    f("seed", seed);
  }
  Tensor call(Scope& s, const Tensor& x) override {
    require(amount >= 0 && amount < 1, name(), "expected a rate of at least 0 and below 1, got ", amount);
    if (amount == 0) return x;
    s.add_seed_generator(seed);
    return s.training() ? x * draw(s, x, 1, std::sqrt(amount / (1 - amount))) : x;
  }
};

template <int rank>
Layer make_spatial(double rate, const SpatialDropoutOptions& options) {
  return own_layer(std::make_shared<SpatialDropoutLayer<rank>>(rate, options), options);
}

}  // namespace

Layer Dropout(double rate, const DropoutOptions& options) {
  require(rate >= 0 && rate <= 1, "Dropout", "expected a rate between 0 and 1, got ", rate);
  return own_layer(std::make_shared<DropoutLayer>(rate, options), options);
}
Layer AlphaDropout(double rate, const DropoutOptions& options) {
  require(rate >= 0 && rate < 1, "AlphaDropout", "expected a rate of at least 0 and below 1, got ", rate);
  return own_layer(std::make_shared<AlphaDropoutLayer>(rate, options), options);
}
Layer SpatialDropout1D(double rate, const SpatialDropoutOptions& options) {
  return make_spatial<1>(rate, options);
}
Layer SpatialDropout2D(double rate, const SpatialDropoutOptions& options) {
  return make_spatial<2>(rate, options);
}
Layer SpatialDropout3D(double rate, const SpatialDropoutOptions& options) {
  return make_spatial<3>(rate, options);
}
Layer GaussianNoise(double stddev, const NoiseOptions& options) {
  return own_layer(std::make_shared<GaussianNoiseLayer>(stddev, options), options);
}
Layer GaussianDropout(double rate, const NoiseOptions& options) {
  return own_layer(std::make_shared<GaussianDropoutLayer>(rate, options), options);
}

std::span<const ClassDef> classes_dropout() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "Dropout", "", make_default<DropoutLayer>, {"rate"}},
      {Family::layer, "AlphaDropout", "", make_default<AlphaDropoutLayer>, {"rate"}},
      {Family::layer, "SpatialDropout1D", "", make_default<SpatialDropoutLayer<1>>, {"rate"}},
      {Family::layer, "SpatialDropout2D", "", make_default<SpatialDropoutLayer<2>>, {"rate"}},
      {Family::layer, "SpatialDropout3D", "", make_default<SpatialDropoutLayer<3>>, {"rate"}},
      {Family::layer, "GaussianNoise", "", make_default<GaussianNoiseLayer>, {"stddev"}},
      {Family::layer, "GaussianDropout", "", make_default<GaussianDropoutLayer>, {"rate"}},
  };
  return rows;
}

}  // namespace plimsoll
