// RandomColorJitter: RandomBrightness, RandomContrast, RandomSaturation and RandomHue one after the other.
#include "layers/base/images.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

struct JitterLayer final : PartsLayer {
  explicit JitterLayer(RandomColorJitterOptions options = {}) : o(std::move(options)) {
    take_seed(o);
    JitterLayer::make_parts();
  }
  RandomColorJitterOptions o;
  std::string_view class_name() const override { return "RandomColorJitter"; }
  void fields(Fields& f) override {
    range_field(f, o.value_range, class_name());
    for (const auto& [name, factor] : factors()) f(name, static_cast<std::vector<double>&>(*factor));
    seed_fields(f);
    if (f.reading()) make_parts();
  }
  std::vector<std::pair<std::string_view, Factor*>> factors() {
    return {{"brightness_factor", &o.brightness_factor},
            {"contrast_factor", &o.contrast_factor},
            {"saturation_factor", &o.saturation_factor},
            {"hue_factor", &o.hue_factor}};
  }
  void make_parts() override {
    parts.clear();
    const RandomColorOptions options{.value_range = o.value_range, .seed = seed};
    const auto add = [&](std::string name, const Factor& factor, auto make) {
      if (!factor.empty()) parts.emplace_back(std::move(name), make(factor, options));
    };
    add("random_brightness", o.brightness_factor, RandomBrightness);
    add("random_contrast", o.contrast_factor, RandomContrast);
    add("random_saturation", o.saturation_factor, RandomSaturation);
    add("random_hue", o.hue_factor, RandomHue);
  }
  Tensor changed(Scope& s, const Tensor& x) override {
    Tensor y = x;
    for (const auto& [name, layer] : parts) y = part_of(layer).changed_by(s, y, next_key(s));
    return y;
  }
};

}  // namespace

Layer RandomColorJitter(const RandomColorJitterOptions& options) {
  check_range(options.value_range, "RandomColorJitter");
  return own_layer(std::make_shared<JitterLayer>(options), options);
}

std::span<const ClassDef> classes_random_color_jitter() {
  static constexpr ClassDef rows[] = {{Family::layer, "RandomColorJitter", "", make_default<JitterLayer>}};
  return rows;
}

}  // namespace plimsoll
