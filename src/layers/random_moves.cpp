// RandomFlip, RandomRotation, RandomZoom, RandomTranslation, RandomShear: images moved in their plane.
#include <cmath>
#include <numbers>

#include "layers/base/images.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

struct FlipLayer final : ImageLayer {
  explicit FlipLayer(std::string mode = "horizontal_and_vertical", const RandomFlipOptions& options = {})
      : mode(std::move(mode)) {
    take_seed(options);
  }
  std::string mode;
  std::string_view class_name() const override { return "RandomFlip"; }
  void fields(Fields& f) override {
    f("mode", mode);
    seed_fields(f);
  }
  // One draw for both directions, as in Keras.
  Tensor changed(Scope& s, const Tensor& x) override {
    check_choice(name(), "mode", mode, {"horizontal", "vertical", "horizontal_and_vertical"});
    const Tensor flips = draw_choice(s, x, {0.5, 0.5});
    Ints axes;
    if (mode != "vertical") axes.push_back(2);
    if (mode != "horizontal") axes.push_back(1);
    return where(flips, reverse(x, axes), x);
  }
};

// A plane transformation of each image: the result at (x, y) is what the image has at
// (a0 x + a1 y + a2, b0 x + b1 y + b2). Each is (batch, 1, 1).
struct PlaneMatrix {
  Tensor a0, a1, a2, b0, b1, b2;
};

struct MoveLayer : ImageLayer {
  explicit MoveLayer(RandomMoveOptions options) : o(std::move(options)) { take_seed(o); }
  RandomMoveOptions o;
  virtual PlaneMatrix matrix(Scope& s, const Tensor& x) const = 0;
  void move_fields(Fields& f) {
    f("fill_mode", o.fill_mode);
    f("fill_value", o.fill_value);
    f("interpolation", o.interpolation);
    seed_fields(f);
  }
  // One number per image, as the matrix wants it.
  Tensor one_each(Scope& s, const Tensor& x, double low, double high) const {
    return cast(squeeze(draw(s, x, low, high), -1), DType::f32);
  }
  static Tensor constant(const Tensor& x, double value) {
    return Tensor::full(DType::f32, {x.dim(0), 1, 1}, value);
  }
  Tensor changed(Scope& s, const Tensor& x) override {
    check_choice(name(), "fill_mode", o.fill_mode, {"reflect", "wrap", "constant", "nearest"});
    const PlaneMatrix m = matrix(s, x);
    const Grid g(x);
    return sampled_images(x, m.a0 * g.across + m.a1 * g.down + m.a2, m.b0 * g.across + m.b1 * g.down + m.b2,
                          {o.interpolation, o.fill_mode, o.fill_value}, name());
  }
};

struct RotationLayer final : MoveLayer {
  explicit RotationLayer(Factor factor = 0.0, RandomMoveOptions options = {})
      : MoveLayer(std::move(options)), factor(std::move(factor)) {}
  Factor factor;
  std::string_view class_name() const override { return "RandomRotation"; }
  void fields(Fields& f) override {
    factor_field(f, "factor", factor, -1, 1, class_name());
    move_fields(f);
  }
  PlaneMatrix matrix(Scope& s, const Tensor& x) const override {
    constexpr double kTurn = 2 * std::numbers::pi;
    const Tensor angle = one_each(s, x, factor.at(0) * kTurn, factor.at(1) * kTurn);
    const Tensor c = cos(angle), d = sin(angle);
    const double cx = static_cast<double>(x.dim(2) - 1) / 2, cy = static_cast<double>(x.dim(1) - 1) / 2;
    return {c, -d, cx - cx * c + cy * d, d, c, cy - cx * d - cy * c};
  }
};

struct ZoomLayer final : MoveLayer {
  explicit ZoomLayer(Factor height = 0.0, Factor width = {}, RandomMoveOptions options = {})
      : MoveLayer(std::move(options)), height_factor(std::move(height)), width_factor(std::move(width)) {}
  Factor height_factor, width_factor;
  std::string_view class_name() const override { return "RandomZoom"; }
  void fields(Fields& f) override {
    f("height_factor", static_cast<std::vector<double>&>(height_factor));
    f("width_factor", static_cast<std::vector<double>&>(width_factor));
    move_fields(f);
  }
  PlaneMatrix matrix(Scope& s, const Tensor& x) const override {
    const auto drawn = [&](Factor factor) {
      settle_factor(factor, -1, 1, name());
      return one_each(s, x, 1 + factor[0], 1 + factor[1]);
    };
    const Tensor down = drawn(height_factor);
    const Tensor across = width_factor.empty() ? down : drawn(width_factor);
    const double cx = static_cast<double>(x.dim(2) - 1) / 2, cy = static_cast<double>(x.dim(1) - 1) / 2;
    const Tensor none = constant(x, 0);
    return {across, none, cx * (1.0 - across), none, down, cy * (1.0 - down)};
  }
};

struct TranslationLayer final : MoveLayer {
  explicit TranslationLayer(Factor height = 0.0, Factor width = 0.0, RandomMoveOptions options = {})
      : MoveLayer(std::move(options)), height_factor(std::move(height)), width_factor(std::move(width)) {}
  Factor height_factor, width_factor;
  std::string_view class_name() const override { return "RandomTranslation"; }
  void fields(Fields& f) override {
    f("height_factor", static_cast<std::vector<double>&>(height_factor));
    f("width_factor", static_cast<std::vector<double>&>(width_factor));
    move_fields(f);
  }
  PlaneMatrix matrix(Scope& s, const Tensor& x) const override {
    const auto drawn = [&](Factor factor, int64_t size) {
      settle_factor(factor, -1, 1, name());
      return one_each(s, x, factor[0], factor[1]) * -static_cast<double>(size);
    };
    const Tensor none = constant(x, 0), one = constant(x, 1);
    const Tensor down = drawn(height_factor, x.dim(1));
    return {one, none, drawn(width_factor, x.dim(2)), none, one, down};
  }
};

struct ShearLayer final : MoveLayer {
  explicit ShearLayer(Factor x = 0.0, Factor y = 0.0, RandomMoveOptions options = {})
      : MoveLayer(std::move(options)), x_factor(std::move(x)), y_factor(std::move(y)) {}
  Factor x_factor, y_factor;
  std::string_view class_name() const override { return "RandomShear"; }
  void fields(Fields& f) override {
    factor_field(f, "x_factor", x_factor, -1, 1, class_name());
    factor_field(f, "y_factor", y_factor, -1, 1, class_name());
    move_fields(f);
  }
  PlaneMatrix matrix(Scope& s, const Tensor& x) const override {
    const Tensor side = one_each(s, x, 0, 1);
    const Tensor sign =
        where(greater(side, scalar_like(side, 0.5)), scalar_like(side, -1), scalar_like(side, 1));
    const Tensor none = constant(x, 0), one = constant(x, 1);
    const Tensor down = one_each(s, x, y_factor.at(0), y_factor.at(1)) * sign;
    return {one, one_each(s, x, x_factor.at(0), x_factor.at(1)) * sign, none, down, one, none};
  }
};

}  // namespace

Layer RandomFlip(std::string mode, const RandomFlipOptions& options) {
  return own_layer(std::make_shared<FlipLayer>(std::move(mode), options), options);
}
Layer RandomRotation(Factor factor, const RandomMoveOptions& options) {
  settle_factor(factor, -1, 1, "RandomRotation");
  return own_layer(std::make_shared<RotationLayer>(std::move(factor), options), options);
}
Layer RandomZoom(Factor height_factor, Factor width_factor, const RandomMoveOptions& options) {
  return own_layer(std::make_shared<ZoomLayer>(std::move(height_factor), std::move(width_factor), options),
                   options);
}
Layer RandomTranslation(Factor height_factor, Factor width_factor, const RandomMoveOptions& options) {
  return own_layer(
      std::make_shared<TranslationLayer>(std::move(height_factor), std::move(width_factor), options),
      options);
}
Layer RandomShear(Factor x_factor, Factor y_factor, const RandomMoveOptions& options) {
  settle_factor(x_factor, -1, 1, "RandomShear");
  settle_factor(y_factor, -1, 1, "RandomShear");
  return own_layer(std::make_shared<ShearLayer>(std::move(x_factor), std::move(y_factor), options), options);
}

std::span<const ClassDef> classes_random_moves() {
  constexpr Family kLayer = Family::layer;
  static constexpr ClassDef rows[] = {
      {kLayer, "RandomFlip", "", make_default<FlipLayer>},
      {kLayer, "RandomRotation", "", make_default<RotationLayer>, {"factor"}},
      {kLayer, "RandomZoom", "", make_default<ZoomLayer>, {"height_factor"}},
      {kLayer, "RandomTranslation", "", make_default<TranslationLayer>, {"height_factor", "width_factor"}},
      {kLayer, "RandomShear", "", make_default<ShearLayer>},
  };
  return rows;
}

}  // namespace plimsoll
