// Initializers, as Keras 3 draws them (the same distributions; the numbers are those of our generator).
#include "plimsoll/initializers.h"

#include <cmath>
#include <span>

#include "plimsoll/error.h"
#include "plimsoll/ops/random.h"

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

// A key that follows from the seed alone: the same object makes the same values again, as in Keras.
Tensor key_of(int64_t seed) {
  const uint32_t key[2] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  return Tensor::from<uint32_t>(key, Shape{2});
}

struct Fans {
  double in = 1, out = 1;
};
Fans fans_of(const Shape& shape) {
  if (shape.rank() == 0) return {};
  if (shape.rank() == 1) return {double(shape[0]), double(shape[0])};
  double field = 1;
  for (int i = 0; i < shape.rank() - 2; ++i) field *= double(shape[i]);
  return {double(shape.dim(-2)) * field, double(shape.dim(-1)) * field};
}

struct GlorotUniformInitializer final : InitializerBase {
  std::string_view class_name() const override { return "GlorotUniform"; }
  void fields(Fields& f) override { f("seed", seed); }
  Tensor make(const Shape& shape, DType dtype) override {
    const Fans fans = fans_of(shape);
    const double limit = std::sqrt(6.0 / (fans.in + fans.out));
    return random_uniform(key_of(seed.value_or(drawn)), shape, dtype, -limit, limit);
  }
  std::optional<int64_t> seed;
  int64_t drawn = next_seed();
};

}  // namespace

Initializer Zeros() { return std::make_shared<ZerosInitializer>(); }
Initializer Ones() { return std::make_shared<OnesInitializer>(); }
Initializer Constant(double value) { return std::make_shared<ConstantValue>(value); }
Initializer GlorotUniform(const SeedOptions& options) {
  auto made = std::make_shared<GlorotUniformInitializer>();
  made->seed = options.seed;
  return made;
}

std::span<const ClassDef> classes_initializers() {
  static constexpr ClassDef rows[] = {
      {Family::initializer, "Zeros", "zeros", make_default<ZerosInitializer>},
      {Family::initializer, "Ones", "ones", make_default<OnesInitializer>},
      {Family::initializer, "Constant", "constant", make_default<ConstantValue>},
      {Family::initializer, "GlorotUniform", "glorot_uniform", make_default<GlorotUniformInitializer>},
  };
  return rows;
}

}  // namespace plimsoll
