// RandomPerspective and RandomElasticTransform: images bent.
#include <algorithm>

#include "layers/base/warps.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/linalg.h"
#include "plimsoll/ops/random.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

struct PerspectiveLayer final : FactorLayer<RandomPerspectiveOptions> {
  using FactorLayer::FactorLayer;
  std::string_view class_name() const override { return "RandomPerspective"; }
  void fields(Fields& f) override {
    factor_field(f, "factor", factor, 0, 1, class_name());
    f("scale", o.scale);
    f("interpolation", o.interpolation);
    f("fill_value", o.fill_value);
    seed_fields(f);
  }
  Tensor changed(Scope& s, const Tensor& x) override {
    require(o.scale >= 0 && o.scale <= 1, name(), "expected a scale from 0 to 1, got ", o.scale);
    const Tensor chosen = draw_choice(s, x, factor);
    const Tensor shares =
        random_uniform(next_key(s), {x.dim(0), 4, 2}, DType::f32, -0.5 * o.scale, 0.5 * o.scale);
    return where(chosen, perspective_images(x, shares, {o.interpolation, "constant", o.fill_value}, name()),
                 x);
  }
};

struct ElasticLayer final : FactorLayer<RandomElasticTransformOptions> {
  using FactorLayer::FactorLayer;
  std::string_view class_name() const override { return "RandomElasticTransform"; }
  void fields(Fields& f) override {
    factor_field(f, "factor", factor, 0, 1, class_name());
    factor_field(f, "scale", o.scale, 0, 1, class_name());
    f("interpolation", o.interpolation);
    f("fill_mode", o.fill_mode);
    f("fill_value", o.fill_value);
    range_field(f, o.value_range, class_name());
    seed_fields(f);
  }
  Tensor changed(Scope& s, const Tensor& x) override {
    if (o.scale.at(1) == 0 || factor.at(1) == 0) return x;
    const Tensor chosen = draw_choice(s, x, factor);
    const double low = o.scale.at(0), high = o.scale.at(1);
    const Tensor strength = low == high ? Tensor::full(DType::f32, {1}, low)
                                        : random_uniform(next_key(s), {1}, DType::f32, low, high);
    const Tensor noise = random_normal(next_key(s), {x.dim(0), x.dim(1), x.dim(2), 1}, DType::f32);
    const Tensor bent =
        elastic_images(x, noise, strength, high, {o.interpolation, o.fill_mode, o.fill_value}, name());
    return clip(where(chosen, bent, x), o.value_range.at(0), o.value_range.at(1));
  }
};

}  // namespace

Tensor perspective_images(const Tensor& x, const Tensor& shares, const Sampling& sampling,
                          std::string_view place) {
  const int64_t n = x.dim(0);
  const double right = static_cast<double>(x.dim(2) - 1), low = static_cast<double>(x.dim(1) - 1);
  const double corners[4][2] = {{0, 0}, {right, 0}, {0, low}, {right, low}};
  // Two equations for each corner: the matrix that takes the moved corner to where it was.
  std::vector<Tensor> rows, wanted;
  const Tensor one = Tensor::full(DType::f32, {n, 1}, 1), zero = Tensor::zeros(DType::f32, {n, 1});
  for (int i = 0; i < 4; ++i) {
    const auto moved = [&](int axis) {
      const Tensor share = slice(shares, {0, i, axis}, {n, i + 1, axis + 1});
      return reshape(share, Shape{n, 1}) * corners[i][axis] + corners[i][axis];
    };
    const Tensor mx = moved(0), my = moved(1);
    for (int axis = 0; axis < 2; ++axis) {
      const double was = corners[i][axis];
      const Tensor a = axis == 0 ? one : zero, b = axis == 0 ? zero : one;
      const Tensor parts[] = {a * mx, a * my, a, b * mx, b * my, b, mx * -was, my * -was};
      rows.push_back(reshape(concatenate(parts, 1), Shape{n, 1, 8}));
      wanted.push_back(reshape(one * was, Shape{n, 1, 1}));
    }
  }
  const Tensor m = solve(concatenate(rows, 1), concatenate(wanted, 1));
  const auto entry = [&](int64_t i) { return slice(m, {0, i, 0}, {n, i + 1, 1}); };
  const Grid g(x);
  const auto dot = [&](int64_t i) { return entry(i) * g.across + entry(i + 1) * g.down; };
  const Tensor depth = dot(6) + 1.0;
  return sampled_images(x, (dot(0) + entry(2)) / depth, (dot(3) + entry(5)) / depth, sampling, place);
}

Tensor elastic_images(const Tensor& x, const Tensor& noise, const Tensor& strength, double most,
                      const Sampling& sampling, std::string_view place) {
  const double to_sigma = 0.05 * static_cast<double>(std::min(x.dim(1), x.dim(2)));
  const double to_alpha = 0.1 * static_cast<double>(std::max(x.dim(1), x.dim(2)));
  // The bell is as long as the strongest needs; a weaker one is cut to its own length.
  const int64_t reach = static_cast<int64_t>(6 * to_sigma * most) / 2;
  const Tensor sigma = strength * to_sigma;
  const Tensor smooth = bell(sigma, 2 * reach + 1, floor(floor(sigma * 6.0) / 2.0));
  // One field for both directions, as every backend of Keras draws it.
  const Tensor by = squeeze(blurred(noise * sigma, smooth, smooth), -1) * (strength * to_alpha);
  const Grid g(x);
  return sampled_images(x, g.across + by, g.down + by, sampling, place);
}

Layer RandomPerspective(Factor factor, const RandomPerspectiveOptions& options) {
  settle_factor(factor, 0, 1, "RandomPerspective");
  return own_layer(std::make_shared<PerspectiveLayer>(std::move(factor), options), options);
}
Layer RandomElasticTransform(Factor factor, const RandomElasticTransformOptions& options) {
  settle_factor(factor, 0, 1, "RandomElasticTransform");
  auto made = std::make_shared<ElasticLayer>(std::move(factor), options);
  settle_factor(made->o.scale, 0, 1, "RandomElasticTransform");
  check_range(options.value_range, "RandomElasticTransform");
  return own_layer(std::move(made), options);
}

std::span<const ClassDef> classes_random_warps() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "RandomPerspective", "", make_default<PerspectiveLayer>},
      {Family::layer, "RandomElasticTransform", "", make_default<ElasticLayer>},
  };
  return rows;
}

}  // namespace plimsoll
