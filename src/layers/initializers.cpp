// Initializers, as Keras 3 draws them (the same distributions; the numbers are those of our generator).
#include "plimsoll/initializers.h"

#include <cmath>
#include <span>

#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/random.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

struct ConstantValue : InitializerBase {
  explicit ConstantValue(double v = 0) : value(v) {}
  std::string_view class_name() const override { return "Constant"; }
  void fields(Fields& f) override { f("value", value); }
  Tensor make(const Shape& shape, DType dtype) override { return Tensor::full(dtype, shape, value); }
  double value;
};
struct ZerosInitializer final : ConstantValue {
  std::string_view class_name() const override { return "Zeros"; }
  void fields(Fields&) override {}
};
struct OnesInitializer final : ConstantValue {
  OnesInitializer() : ConstantValue(1) {}
  std::string_view class_name() const override { return "Ones"; }
  void fields(Fields&) override {}
};

struct IdentityInitializer final : InitializerBase {
  explicit IdentityInitializer(double gain = 1) : gain(gain) {}
  std::string_view class_name() const override { return "Identity"; }
  // Keras writes no gain either.
  void fields(Fields& f) override {
    if (f.reading()) f("gain", gain);
  }
  Tensor make(const Shape& shape, DType dtype) override {
    require(shape.rank() == 2, "Identity", "expected a matrix to initialize, got shape ", shape);
    return cast(equal(iota(DType::i32, shape, 0), iota(DType::i32, shape, 1)), dtype) * gain;
  }
  double gain;
};

// The key follows from the seed alone: the same object makes the same values again, as in Keras.
struct RandomInitializer : InitializerBase {
  void fields(Fields& f) override { f("seed", seed); }
  Tensor key() const {
    const int64_t s = seed.value_or(drawn);
    const uint32_t words[2] = {static_cast<uint32_t>(s), static_cast<uint32_t>(s >> 32)};
    return Tensor::from<uint32_t>(words, Shape{2});
  }
  std::optional<int64_t> seed;
  int64_t drawn = next_seed();
};

// A normal cut at two standard deviations, by the inverse of its distribution function.
Tensor truncated_normal(const Tensor& key, const Shape& shape, DType dtype, double mean, double stddev) {
  const double edge = std::erf(2.0 / std::sqrt(2.0));
  const DType drawn = dtype == DType::f64 ? DType::f64 : DType::f32;
  const Tensor u = random_uniform(key, shape, drawn, -edge, edge);
  const Tensor z = clip(erfinv(u) * std::sqrt(2.0), -2.0, 2.0);
  return cast(z * stddev + mean, dtype);
}

struct RandomNormalInitializer : RandomInitializer {
  std::string_view class_name() const override { return "RandomNormal"; }
  void fields(Fields& f) override {
    RandomInitializer::fields(f);
    f("mean", mean);
    f("stddev", stddev);
  }
  Tensor make(const Shape& shape, DType dtype) override {
    return random_normal(key(), shape, dtype, mean, stddev);
  }
  double mean = 0.0, stddev = 0.05;
};
struct TruncatedNormalInitializer final : RandomNormalInitializer {
  std::string_view class_name() const override { return "TruncatedNormal"; }
  Tensor make(const Shape& shape, DType dtype) override {
    return truncated_normal(key(), shape, dtype, mean, stddev);
  }
};
struct RandomUniformInitializer final : RandomInitializer {
  std::string_view class_name() const override { return "RandomUniform"; }
  void fields(Fields& f) override {
    RandomInitializer::fields(f);
    f("minval", minval);
    f("maxval", maxval);
  }
  Tensor make(const Shape& shape, DType dtype) override {
    return random_uniform(key(), shape, dtype, minval, maxval);
  }
  double minval = -0.05, maxval = 0.05;
};

struct VarianceScalingInitializer : RandomInitializer {
  std::string_view class_name() const override { return "VarianceScaling"; }
  void fields(Fields& f) override {
    RandomInitializer::fields(f);
    f("scale", scale);
    f("mode", mode);
    f("distribution", distribution);
    fan_fields(f);
  }
  void fan_fields(Fields& f) {
    f("input_axes", input_axes);
    f("output_axes", output_axes);
  }

  double fan(const Shape& shape) const {
    double in = 1, out = 1;
    if (!input_axes.empty() && !output_axes.empty()) {
      for (const int64_t axis : input_axes) in *= double(shape.dim(static_cast<int>(axis)));
      for (const int64_t axis : output_axes) out *= double(shape.dim(static_cast<int>(axis)));
    } else if (shape.rank() == 1) {
      in = out = double(shape[0]);
    } else if (shape.rank() > 1) {
      for (int i = 0; i < shape.rank() - 2; ++i) in *= double(shape[i]);
      out = in * double(shape.dim(-1));
      in *= double(shape.dim(-2));
    }
    return std::max(1.0, mode == "fan_in" ? in : mode == "fan_out" ? out : (in + out) / 2);
  }

  Tensor make(const Shape& shape, DType dtype) override {
    // The standard deviation of a normal cut at two of its own.
    constexpr double kTruncatedStddev = 0.87962566103423978;
    require(scale > 0, class_name(), "expected scale > 0, got ", scale);
    require(mode == "fan_in" || mode == "fan_out" || mode == "fan_avg", class_name(),
            "expected mode fan_in, fan_out or fan_avg, got '", mode, "'");
    const double variance = scale / fan(shape);
    if (distribution == "truncated_normal" || distribution == "normal") {
      return truncated_normal(key(), shape, dtype, 0, std::sqrt(variance) / kTruncatedStddev);
    }
    if (distribution == "untruncated_normal")
      return random_normal(key(), shape, dtype, 0, std::sqrt(variance));
    require(distribution == "uniform", class_name(),
            "expected distribution uniform, truncated_normal or untruncated_normal, got '", distribution,
            "'");
    const double limit = std::sqrt(3.0 * variance);
    return random_uniform(key(), shape, dtype, -limit, limit);
  }
  double scale = 1.0;
  std::string mode = "fan_in", distribution = "truncated_normal";
  Ints input_axes, output_axes;
};

// The named ones are VarianceScaling with its arguments fixed.
enum class Named { glorot_uniform, glorot_normal, he_uniform, he_normal, lecun_uniform, lecun_normal };
struct NamedRow {
  std::string_view name;
  double scale;
  std::string_view mode, distribution;
};
constexpr NamedRow kNamed[] = {
    {"GlorotUniform", 1, "fan_avg", "uniform"}, {"GlorotNormal", 1, "fan_avg", "truncated_normal"},
    {"HeUniform", 2, "fan_in", "uniform"},      {"HeNormal", 2, "fan_in", "truncated_normal"},
    {"LecunUniform", 1, "fan_in", "uniform"},   {"LecunNormal", 1, "fan_in", "truncated_normal"},
};
template <Named which>
struct NamedInitializer final : VarianceScalingInitializer {
  static constexpr const NamedRow& kRow = kNamed[static_cast<size_t>(which)];
  explicit NamedInitializer(const SeedOptions& options = {}) {
    seed = options.seed;
    scale = kRow.scale;
    mode = kRow.mode;
    distribution = kRow.distribution;
  }
  std::string_view class_name() const override { return kRow.name; }
  void fields(Fields& f) override {
    RandomInitializer::fields(f);
    fan_fields(f);
  }
};

// Modified Gram-Schmidt, twice for orthogonality to the last digits; the columns of `a` (rows x columns, rows
// >= columns) become orthonormal. The diagonal of R is positive by construction, which makes Q uniform.
void orthonormalize(std::vector<double>& a, int64_t rows, int64_t columns) {
  const auto at = [&](int64_t r, int64_t c) -> double& { return a[static_cast<size_t>(c * rows + r)]; };
  for (int64_t c = 0; c < columns; ++c) {
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t before = 0; before < c; ++before) {
        double along = 0;
        for (int64_t r = 0; r < rows; ++r) along += at(r, c) * at(r, before);
        for (int64_t r = 0; r < rows; ++r) at(r, c) -= along * at(r, before);
      }
    }
    double norm = 0;
    for (int64_t r = 0; r < rows; ++r) norm += at(r, c) * at(r, c);
    norm = std::sqrt(std::max(norm, 1e-300));
    for (int64_t r = 0; r < rows; ++r) at(r, c) /= norm;
  }
}

struct OrthogonalInitializer final : RandomInitializer {
  std::string_view class_name() const override { return "Orthogonal"; }
  void fields(Fields& f) override {
    RandomInitializer::fields(f);
    f("gain", gain);
  }
  Tensor make(const Shape& shape, DType dtype) override {
    require(shape.rank() >= 2, "Orthogonal", "expected at least 2 axes to initialize, got shape ", shape);
    const int64_t width = shape.dim(-1);
    const int64_t height = width == 0 ? 0 : shape.elements() / width;
    const int64_t rows = std::max(width, height);
    const int64_t columns = std::min(width, height);
    const Tensor drawn_values = random_normal(key(), {columns, rows}, DType::f64);
    std::vector<double> a(drawn_values.data<double>(), drawn_values.data<double>() + rows * columns);
    orthonormalize(a, rows, columns);
    for (double& value : a) value *= gain;
    // The columns lie one after the other: as rows if the result is wide.
    const Tensor q = Tensor::from<double>(a, {columns, rows});
    return cast(reshape(height < width ? q : transpose(q, {1, 0}), shape), dtype);
  }
  double gain = 1.0;
};

}  // namespace

Initializer Zeros() { return std::make_shared<ZerosInitializer>(); }
Initializer Ones() { return std::make_shared<OnesInitializer>(); }
Initializer Constant(double value) { return std::make_shared<ConstantValue>(value); }
Initializer IdentityMatrix(double gain) { return std::make_shared<IdentityInitializer>(gain); }
Initializer RandomNormal(const NormalOptions& options) {
  auto made = std::make_shared<RandomNormalInitializer>();
  made->mean = options.mean;
  made->stddev = options.stddev;
  made->seed = options.seed;
  return made;
}
Initializer TruncatedNormal(const NormalOptions& options) {
  auto made = std::make_shared<TruncatedNormalInitializer>();
  made->mean = options.mean;
  made->stddev = options.stddev;
  made->seed = options.seed;
  return made;
}
Initializer RandomUniform(const UniformOptions& options) {
  auto made = std::make_shared<RandomUniformInitializer>();
  made->minval = options.minval;
  made->maxval = options.maxval;
  made->seed = options.seed;
  return made;
}
Initializer VarianceScaling(const VarianceScalingOptions& options) {
  auto made = std::make_shared<VarianceScalingInitializer>();
  made->scale = options.scale;
  made->mode = options.mode;
  made->distribution = options.distribution;
  made->seed = options.seed;
  return made;
}
Initializer Orthogonal(const OrthogonalOptions& options) {
  auto made = std::make_shared<OrthogonalInitializer>();
  made->gain = options.gain;
  made->seed = options.seed;
  return made;
}
Initializer GlorotUniform(const SeedOptions& o) {
  return std::make_shared<NamedInitializer<Named::glorot_uniform>>(o);
}
Initializer GlorotNormal(const SeedOptions& o) {
  return std::make_shared<NamedInitializer<Named::glorot_normal>>(o);
}
Initializer HeUniform(const SeedOptions& o) {
  return std::make_shared<NamedInitializer<Named::he_uniform>>(o);
}
Initializer HeNormal(const SeedOptions& o) { return std::make_shared<NamedInitializer<Named::he_normal>>(o); }
Initializer LecunUniform(const SeedOptions& o) {
  return std::make_shared<NamedInitializer<Named::lecun_uniform>>(o);
}
Initializer LecunNormal(const SeedOptions& o) {
  return std::make_shared<NamedInitializer<Named::lecun_normal>>(o);
}

std::span<const ClassDef> classes_initializers() {
  constexpr Family kFamily = Family::initializer;
  static constexpr ClassDef rows[] = {
      {kFamily, "Zeros", "zeros", make_default<ZerosInitializer>},
      {kFamily, "Ones", "ones", make_default<OnesInitializer>},
      {kFamily, "Constant", "constant", make_default<ConstantValue>},
      {kFamily, "Identity", "identity", make_default<IdentityInitializer>},
      {kFamily, "RandomNormal", "random_normal", make_default<RandomNormalInitializer>},
      {kFamily, "TruncatedNormal", "truncated_normal", make_default<TruncatedNormalInitializer>},
      {kFamily, "RandomUniform", "random_uniform", make_default<RandomUniformInitializer>},
      {kFamily, "VarianceScaling", "variance_scaling", make_default<VarianceScalingInitializer>},
      {kFamily, "GlorotUniform", "glorot_uniform", make_default<NamedInitializer<Named::glorot_uniform>>},
      {kFamily, "GlorotNormal", "glorot_normal", make_default<NamedInitializer<Named::glorot_normal>>},
      {kFamily, "HeUniform", "he_uniform", make_default<NamedInitializer<Named::he_uniform>>},
      {kFamily, "HeNormal", "he_normal", make_default<NamedInitializer<Named::he_normal>>},
      {kFamily, "LecunUniform", "lecun_uniform", make_default<NamedInitializer<Named::lecun_uniform>>},
      {kFamily, "LecunNormal", "lecun_normal", make_default<NamedInitializer<Named::lecun_normal>>},
      {kFamily, "Orthogonal", "orthogonal", make_default<OrthogonalInitializer>},
      // Names of the same classes in other versions of Keras.
      {kFamily, "IdentityInitializer", "", make_default<IdentityInitializer>},
      {kFamily, "OrthogonalInitializer", "", make_default<OrthogonalInitializer>},
      // Keras's short words.
      {kFamily, "zero", "", make_default<ZerosInitializer>},
      {kFamily, "one", "", make_default<OnesInitializer>},
      {kFamily, "normal", "", make_default<RandomNormalInitializer>},
      {kFamily, "uniform", "", make_default<RandomUniformInitializer>},
  };
  return rows;
}

}  // namespace plimsoll
