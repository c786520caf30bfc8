// RandAugment and AugMix: changes that are themselves drawn, for the whole batch at each step.
#include <cmath>

#include "layers/base/images.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/control.h"
#include "plimsoll/ops/random.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

// Both draw from these eleven, AugMix without `all` from those that do not change colors alone.
struct Changes {
  std::vector<double> value_range;
  Factor factor;
  std::string interpolation;
  std::optional<int64_t> seed;
};

std::vector<std::pair<std::string, Layer>> moving(const Changes& c) {
  const RandomMoveOptions move{.interpolation = c.interpolation, .seed = c.seed};
  return {{"random_shear", RandomShear(c.factor, c.factor, move)},
          {"random_translation", RandomTranslation(c.factor, c.factor, move)},
          {"random_rotation", RandomRotation(c.factor, move)}};
}
std::vector<std::pair<std::string, Layer>> coloring(const Changes& c) {
  const RandomColorOptions color{.value_range = c.value_range, .seed = c.seed};
  return {{"random_brightness", RandomBrightness(c.factor, color)},
          {"random_color_degeneration", RandomColorDegeneration(c.factor, color)},
          {"random_contrast", RandomContrast(c.factor, color)},
          {"random_sharpness", RandomSharpness(c.factor, color)}};
}
std::vector<std::pair<std::string, Layer>> flattening(const Changes& c) {
  const RandomColorOptions color{.value_range = c.value_range, .seed = c.seed};
  const double bits = std::max(1.0, std::floor(8 * c.factor.at(1)));
  return {{"random_posterization", RandomPosterization(bits, color)},
          {"solarization", Solarization({.addition_factor = c.factor,
                                         .threshold_factor = c.factor,
                                         .value_range = c.value_range,
                                         .seed = c.seed})},
          {"auto_contrast", AutoContrast({.value_range = c.value_range})},
          {"equalization", Equalization({.value_range = c.value_range})}};
}

// A layer that applies others as draws decide.
template <class Options>
struct DrawnChanges : PartsLayer {
  explicit DrawnChanges(Options options = {}) : o(std::move(options)) { take_seed(o); }
  Options o;

  Changes changes() {
    settle_factor(o.factor, 0, 1, class_name());
    return {o.value_range, o.factor, o.interpolation, seed};
  }
  void add(std::vector<std::pair<std::string, Layer>> more) {
    parts.insert(parts.end(), more.begin(), more.end());
  }
  Tensor drawn_place(Scope& s, size_t count) const {
    return cast(floor(random_uniform(next_key(s), {}, DType::f32, 0, static_cast<double>(count))),
                DType::i32);
  }
  // What the part at `place` makes of x with keys[place]; x itself for a place behind the last.
  Tensor changed_at(Scope& s, const Tensor& place, const Tensor& x, const std::vector<Tensor>& keys) {
    std::vector<Body> branches;
    for (size_t i = 0; i < parts.size(); ++i) {
      branches.emplace_back([&, i](std::span<const Tensor> xs) {
        return std::vector<Tensor>{part_of(parts[i].second).changed_by(s, xs[0], keys[i])};
      });
    }
    branches.emplace_back([](std::span<const Tensor> xs) { return std::vector<Tensor>{xs[0]}; });
    return switch_case(place, {&x, 1}, branches)[0];
  }
  std::vector<Tensor> drawn_keys(Scope& s) const {
    std::vector<Tensor> keys;
    for (size_t i = 0; i < parts.size(); ++i) keys.push_back(next_key(s));
    return keys;
  }
};

struct RandAugmentLayer final : DrawnChanges<RandAugmentOptions> {
  using DrawnChanges::DrawnChanges;
  std::string_view class_name() const override { return "RandAugment"; }
  void fields(Fields& f) override {
    range_field(f, o.value_range, class_name());
    f("num_ops", o.num_ops);
    factor_field(f, "factor", o.factor, 0, 1, class_name());
    f("interpolation", o.interpolation);
    seed_fields(f);
  }
  void make_parts() override {
    const Changes c = changes();
    add(moving(c));
    add(coloring(c));
    add(flattening(c));
  }
  // A change that is drawn twice is the same both times, as in Keras.
  Tensor changed(Scope& s, const Tensor& x) override {
    require(o.num_ops >= 0 && o.num_ops <= 100, name(), "expected num_ops from 0 to 100, got ", o.num_ops);
    const std::vector<Tensor> keys = drawn_keys(s);
    Tensor y = x;
    for (int64_t i = 0; i < o.num_ops; ++i) y = changed_at(s, drawn_place(s, parts.size()), y, keys);
    return y;
  }
};

// `count` numbers of a gamma distribution, by the method of Marsaglia and Tsang: it takes more than 95 of 100
// draws, so that of 16 none is left over but once in 10^20.
Tensor gamma_numbers(const Tensor& key, int64_t count, double alpha) {
  constexpr int64_t kTries = 16;
  const auto part = [&](uint32_t i) { return fold_in(key, Tensor::full(DType::u32, {}, i)); };
  const double d = (alpha < 1 ? alpha + 1 : alpha) - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  const Tensor normal = random_normal(part(0), {kTries, count}, DType::f32);
  const Tensor even = random_uniform(part(1), {kTries, count}, DType::f32);
  const Tensor base = normal * c + 1.0, zero = scalar_like(base, 0);
  const Tensor v = power(maximum(base, zero), scalar_like(base, 3));
  const Tensor bound = 0.5 * square(normal) + d - d * v + d * log(maximum(v, scalar_like(v, 1e-30)));
  const Tensor taken = bitwise_and(greater(base, zero), less(log(even), bound));
  Tensor found = Tensor::full(DType::f32, {count}, d);
  for (int64_t i = kTries; i-- > 0;) {
    const auto row = [&](const Tensor& all) { return squeeze(slice_axis(all, 0, i, i + 1), 0); };
    found = where(row(taken), row(v) * d, found);
  }
  if (alpha >= 1) return found;
  const Tensor more = random_uniform(part(2), {count}, DType::f32);
  return found * power(more, scalar_like(more, 1 / alpha));
}

struct AugMixLayer final : DrawnChanges<AugMixOptions> {
  using DrawnChanges::DrawnChanges;
  std::string_view class_name() const override { return "AugMix"; }
  void fields(Fields& f) override {
    range_field(f, o.value_range, class_name());
    f("num_chains", o.num_chains);
    f("chain_depth", o.chain_depth);
    factor_field(f, "factor", o.factor, 0, 1, class_name());
    f("alpha", o.alpha);
    f("all_ops", o.all_ops);
    f("interpolation", o.interpolation);
    seed_fields(f);
  }
  void make_parts() override {
    const Changes c = changes();
    add(moving(c));
    add(flattening(c));
    if (o.all_ops) add(coloring(c));
  }
  // `count` shares that sum up to 1, of a Dirichlet distribution.
  Tensor shares(Scope& s, int64_t count, DType dtype) const {
    const Tensor drawn = gamma_numbers(next_key(s), count, o.alpha);
    return cast(drawn / maximum(sum(drawn), scalar_like(drawn, 1e-30)), dtype);
  }
  Tensor changed(Scope& s, const Tensor& x) override {
    constexpr int64_t kMost = 200;  // each is twelve branches in the step
    require(o.num_chains > 0 && o.chain_depth >= 0 && o.num_chains <= kMost &&
                o.chain_depth <= kMost / o.num_chains,
            name(), "expected num_chains > 0 and up to ", kMost, " changes in all chains, got ", o.num_chains,
            " chains of ", o.chain_depth);
    require(o.alpha > 0, name(), "expected alpha > 0, got ", o.alpha);
    const Tensor chains = shares(s, o.num_chains, x.dtype());
    const Tensor kept = slice_axis(shares(s, 2, x.dtype()), 0, 0, 1);
    Tensor mixed = x * 0.0;
    for (int64_t chain = 0; chain < o.num_chains; ++chain) {
      Tensor y = x;
      for (int64_t i = 0; i < o.chain_depth; ++i)
        y = changed_at(s, drawn_place(s, parts.size() + 1), y, drawn_keys(s));
      mixed = mixed + y * slice_axis(chains, 0, chain, chain + 1);
    }
    return clip(kept * x + (1.0 - kept) * mixed, o.value_range.at(0), o.value_range.at(1));
  }
};

template <class DrawnLayer, class Options>
Layer drawn_layer(const Options& options) {
  auto made = std::make_shared<DrawnLayer>(options);
  check_range(options.value_range, made->class_name());
  settle_factor(made->o.factor, 0, 1, made->class_name());
  return own_layer(std::move(made), options);
}

}  // namespace

Layer RandAugment(const RandAugmentOptions& options) { return drawn_layer<RandAugmentLayer>(options); }
Layer AugMix(const AugMixOptions& options) { return drawn_layer<AugMixLayer>(options); }

std::span<const ClassDef> classes_random_changes() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "RandAugment", "", make_default<RandAugmentLayer>},
      {Family::layer, "AugMix", "", make_default<AugMixLayer>},
  };
  return rows;
}

}  // namespace plimsoll
