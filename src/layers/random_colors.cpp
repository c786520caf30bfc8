// RandomBrightness, RandomContrast, RandomSaturation, RandomHue, RandomColorDegeneration, RandomSharpness,
// RandomPosterization, RandomInvert, RandomGrayscale, Solarization, AutoContrast: pixels changed in place.
#include "layers/base/images.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/nn.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

Tensor clipped(const Tensor& x, const std::vector<double>& range) {
  return clip(x, range.at(0), range.at(1));
}

// The change that is not the same from class to class: kClass, the bounds of the factor, and
// change(x, factor, range), where factor is (batch, 1, 1, 1).
template <class Change>
struct ColorLayer final : ImageLayer {
  explicit ColorLayer(Factor factor = Change::kDefault, const RandomColorOptions& options = {})
      : factor(std::move(factor)), value_range(options.value_range) {
    take_seed(options);
  }
  Factor factor;
  std::vector<double> value_range;
  std::string_view class_name() const override { return Change::kClass; }
  void fields(Fields& f) override {
    factor_field(f, "factor", factor, Change::kLeast, Change::kMost, class_name());
    range_field(f, value_range, class_name());
    seed_fields(f);
  }
  Tensor changed(Scope& s, const Tensor& x) override {
    require(!Change::kColors || x.dim(3) == 3, name(), "expected images of 3 channels, got shape ",
            x.shape());
    const auto drawn = [&](double low, double high) { return draw(s, x, low, high); };
    return Change::change(x, factor, value_range, drawn);
  }
};

struct Brightness {
  static constexpr std::string_view kClass = "RandomBrightness";
  static constexpr double kLeast = -1, kMost = 1, kDefault = 0;
  static constexpr bool kColors = false;
  template <class Draw>
  static Tensor change(const Tensor& x, const Factor& f, const std::vector<double>& range, const Draw& draw) {
    return clipped(x + draw(f[0], f[1]) * (range[1] - range[0]), range);
  }
};

struct Contrast {
  static constexpr std::string_view kClass = "RandomContrast";
  static constexpr double kLeast = 0, kMost = 1, kDefault = 0;
  static constexpr bool kColors = false;
  template <class Draw>
  static Tensor change(const Tensor& x, const Factor& f, const std::vector<double>& range, const Draw& draw) {
    const Tensor middle = mean(x, {1, 2}, true);
    return clipped((x - middle) * draw(1 - f[0], 1 + f[1]) + middle, range);
  }
};

struct Saturation {
  static constexpr std::string_view kClass = "RandomSaturation";
  static constexpr double kLeast = -1, kMost = 1, kDefault = 0;
  static constexpr bool kColors = true;
  template <class Draw>
  static Tensor change(const Tensor& x, const Factor& f, const std::vector<double>& range, const Draw& draw) {
    const Tensor drawn = draw(f[0], f[1]);
    const Tensor times = drawn / (1.0 - drawn + 1e-7);
    const Tensor hsv = hsv_of(x);
    const Tensor parts[] = {slice_axis(hsv, 3, 0, 1), clipped(slice_axis(hsv, 3, 1, 2) * times, range),
                            slice_axis(hsv, 3, 2, 3)};
    return rgb_of(concatenate(parts, 3));
  }
};

struct Hue {
  static constexpr std::string_view kClass = "RandomHue";
  static constexpr double kLeast = 0, kMost = 1, kDefault = 0;
  static constexpr bool kColors = true;
  template <class Draw>
  static Tensor change(const Tensor& x, const Factor& f, const std::vector<double>& range, const Draw& draw) {
    const Tensor side = draw(0, 1);
    const Tensor sign =
        where(greater(side, scalar_like(side, 0.5)), scalar_like(side, -1), scalar_like(side, 1));
    const Tensor hsv = hsv_of(ranged(x, range[0], range[1], 0, 1));
    Tensor hue = slice_axis(hsv, 3, 0, 1) + sign * draw(f[0], f[1]) * 0.5;
    hue = where(greater(hue, scalar_like(hue, 1)), hue - 1.0, hue);
    hue = where(less(hue, scalar_like(hue, 0)), hue + 1.0, hue);
    const Tensor parts[] = {hue, slice_axis(hsv, 3, 1, 3)};
    return ranged(clip(rgb_of(concatenate(parts, 3)), 0, 1), 0, 1, range[0], range[1]);
  }
};

struct Degeneration {
  static constexpr std::string_view kClass = "RandomColorDegeneration";
  static constexpr double kLeast = -1, kMost = 1, kDefault = 0;
  static constexpr bool kColors = true;
  template <class Draw>
  static Tensor change(const Tensor& x, const Factor& f, const std::vector<double>& range, const Draw& draw) {
    return clipped(x + draw(f[0], f[1]) * (gray_of(x) - x), range);
  }
};

struct Sharpness {
  static constexpr std::string_view kClass = "RandomSharpness";
  static constexpr double kLeast = 0, kMost = 1, kDefault = 0;
  static constexpr bool kColors = false;
  template <class Draw>
  static Tensor change(const Tensor& x, const Factor& f, const std::vector<double>& range, const Draw& draw) {
    const int64_t channels = x.dim(3);
    constexpr float kSide = 1.0F / 13, kMiddle = 5.0F / 13;
    const float nine[] = {kSide, kSide, kSide, kSide, kMiddle, kSide, kSide, kSide, kSide};
    const Tensor kernel =
        broadcast_to(reshape(Tensor::from<float>(nine, {9}), Shape{3, 3, 1, 1}), Shape{3, 3, 1, channels});
    const Tensor smooth =
        conv(x, cast(kernel, x.dtype()), {.pad_low = {1, 1}, .pad_high = {1, 1}, .groups = channels});
    return clipped(x + (1.0 - 2.0 * draw(f[0], f[1])) * (smooth - x), range);
  }
};

struct Posterization {
  static constexpr std::string_view kClass = "RandomPosterization";
  static constexpr double kLeast = 1, kMost = 8, kDefault = 8;
  static constexpr bool kColors = false;
  template <class Draw>
  static Tensor change(const Tensor& x, const Factor& f, const std::vector<double>& range, const Draw& draw) {
    const Tensor bits = floor(draw(f[0], f[1]));
    const Tensor step = power(scalar_like(bits, 2), 8.0 - bits);
    const Tensor whole = floor(ranged(x, range[0], range[1], 0, 255));
    return ranged(floor(whole / step) * step, 0, 255, range[0], range[1]);
  }
};

struct Inversion {
  static constexpr std::string_view kClass = "RandomInvert";
  static constexpr double kLeast = 0, kMost = 1, kDefault = 1;
  static constexpr bool kColors = false;
  template <class Draw>
  static Tensor change(const Tensor& x, const Factor& f, const std::vector<double>& range, const Draw& draw) {
    const Tensor share = draw(f[0], f[1]);
    return where(less(draw(0, 1), share), range[1] - x, x);
  }
};

struct GrayscaleLayer final : ImageLayer {
  explicit GrayscaleLayer(double factor = 0.5, const RandomFlipOptions& options = {}) : factor(factor) {
    take_seed(options);
  }
  double factor;
  std::string_view class_name() const override { return "RandomGrayscale"; }
  // Keras's config leaves the seed out.
  void fields(Fields& f) override {
    f("factor", factor);
    f("data_format", data_format);
  }
  Tensor changed(Scope& s, const Tensor& x) override {
    require(factor >= 0 && factor <= 1, name(), "expected a factor from 0 to 1, got ", factor);
    require(x.dim(3) == 1 || x.dim(3) == 3, name(), "expected images of 1 or 3 channels, got shape ",
            x.shape());
    if (x.dim(3) == 1) return x;
    return where(draw_choice(s, x, {factor, factor}), gray_of(x), x);
  }
};

// From 0 to a lone number.
void settle_solar(Factor& factor) {
  if (factor.size() == 1) factor = {0, factor[0]};
  settle_factor(factor, 0, 1, "Solarization");
}
void solar_field(Fields& f, std::string_view name, Factor& factor) {
  f(name, static_cast<std::vector<double>&>(factor));
  settle_solar(factor);
}

struct SolarizationLayer final : ImageLayer {
  explicit SolarizationLayer(SolarizationOptions options = {}) : o(std::move(options)) {
    settle_solar(o.addition_factor);
    settle_solar(o.threshold_factor);
    take_seed(o);
  }
  SolarizationOptions o;
  std::string_view class_name() const override { return "Solarization"; }
  void fields(Fields& f) override {
    solar_field(f, "addition_factor", o.addition_factor);
    solar_field(f, "threshold_factor", o.threshold_factor);
    range_field(f, o.value_range, class_name());
    seed_fields(f);
  }
  Tensor changed(Scope& s, const Tensor& x) override {
    const auto drawn = [&](const Factor& factor) { return draw(s, x, factor.at(0), factor.at(1) * 255); };
    const Tensor bytes = ranged(x, o.value_range.at(0), o.value_range.at(1), 0, 255);
    const Tensor more = clip(bytes + drawn(o.addition_factor), 0, 255);
    const Tensor turned = where(less(more, drawn(o.threshold_factor)), more, 255.0 - more);
    return ranged(turned, 0, 255, o.value_range[0], o.value_range[1]);
  }
};

struct AutoContrastLayer final : ImageLayer {
  explicit AutoContrastLayer(AutoContrastOptions options = {}) : value_range(std::move(options.value_range)) {
    data_format = options.data_format;
  }
  std::vector<double> value_range;
  std::string_view class_name() const override { return "AutoContrast"; }
  void fields(Fields& f) override {
    range_field(f, value_range, class_name());
    f("data_format", data_format);
  }
  bool acts_always() const override { return true; }
  bool is_random() const override { return false; }
  Tensor changed(Scope&, const Tensor& x) override {
    const Tensor bytes = ranged(x, value_range.at(0), value_range.at(1), 0, 255);
    const Tensor low = min(bytes, {1, 2}, true), span = max(bytes, {1, 2}, true) - low;
    const Tensor flat = equal(span, scalar_like(span, 0));
    const Tensor scale = 255.0 / where(flat, scalar_like(span, 1), span);
    const Tensor y = clip(bytes * scale - low * scale, 0, 255);
    return where(flat, x, ranged(y, 0, 255, value_range[0], value_range[1]));
  }
};

template <class Change>
Layer make_color(Factor factor, const RandomColorOptions& options) {
  settle_factor(factor, Change::kLeast, Change::kMost, Change::kClass);
  check_range(options.value_range, Change::kClass);
  return own_layer(std::make_shared<ColorLayer<Change>>(std::move(factor), options), options);
}

}  // namespace

Layer RandomBrightness(Factor f, const RandomColorOptions& o) {
  return make_color<Brightness>(std::move(f), o);
}
Layer RandomContrast(Factor f, const RandomColorOptions& o) { return make_color<Contrast>(std::move(f), o); }
Layer RandomSaturation(Factor f, const RandomColorOptions& o) {
  return make_color<Saturation>(std::move(f), o);
}
Layer RandomHue(Factor f, const RandomColorOptions& o) { return make_color<Hue>(std::move(f), o); }
Layer RandomColorDegeneration(Factor f, const RandomColorOptions& o) {
  return make_color<Degeneration>(std::move(f), o);
}
Layer RandomSharpness(Factor f, const RandomColorOptions& o) {
  return make_color<Sharpness>(std::move(f), o);
}
Layer RandomPosterization(Factor f, const RandomColorOptions& o) {
  return make_color<Posterization>(std::move(f), o);
}
Layer RandomInvert(Factor f, const RandomColorOptions& o) { return make_color<Inversion>(std::move(f), o); }
Layer RandomGrayscale(double factor, const RandomFlipOptions& o) {
  return own_layer(std::make_shared<GrayscaleLayer>(factor, o), o);
}
Layer Solarization(const SolarizationOptions& o) {
  check_range(o.value_range, "Solarization");
  return own_layer(std::make_shared<SolarizationLayer>(o), o);
}
Layer AutoContrast(const AutoContrastOptions& o) {
  check_range(o.value_range, "AutoContrast");
  return own_layer(std::make_shared<AutoContrastLayer>(o), o);
}

std::span<const ClassDef> classes_random_colors() {
  constexpr Family kLayer = Family::layer;
  static constexpr ClassDef rows[] = {
      {kLayer, "RandomBrightness", "", make_default<ColorLayer<Brightness>>, {"factor"}},
      {kLayer, "RandomContrast", "", make_default<ColorLayer<Contrast>>, {"factor"}},
      {kLayer, "RandomSaturation", "", make_default<ColorLayer<Saturation>>, {"factor"}},
      {kLayer, "RandomHue", "", make_default<ColorLayer<Hue>>, {"factor"}},
      {kLayer, "RandomColorDegeneration", "", make_default<ColorLayer<Degeneration>>, {"factor"}},
      {kLayer, "RandomSharpness", "", make_default<ColorLayer<Sharpness>>, {"factor"}},
      {kLayer, "RandomPosterization", "", make_default<ColorLayer<Posterization>>, {"factor"}},
      {kLayer, "RandomInvert", "", make_default<ColorLayer<Inversion>>},
      {kLayer, "RandomGrayscale", "", make_default<GrayscaleLayer>},
      {kLayer, "Solarization", "", make_default<SolarizationLayer>},
      {kLayer, "AutoContrast", "", make_default<AutoContrastLayer>},
  };
  return rows;
}

}  // namespace plimsoll
