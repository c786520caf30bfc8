// Layers that change images by chance, against Keras once all is drawn: tests/golden/draws.npz, made by
// tests/golden/make_draw_goldens.py.
#include <gtest/gtest.h>

#include "layers/base/layer_testing.h"
#include "layers/base/quantiles.h"
#include "layers/base/warps.h"
#include "plimsoll/autodiff.h"
#include "plimsoll/error.h"
#include "plimsoll/layers.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"
#include "support/compare.h"
#include "support/fill.h"
#include "support/npz.h"

namespace plimsoll {
namespace {

using testing::bit_difference;
using testing::difference;
using testing::fill;
using testing::hash_text;

Tensor golden(const std::string& name) {
  static const auto all = testing::read_npz(std::string(PLIMSOLL_GOLDEN_FOLDER) + "/draws.npz");
  const testing::NpyArray& array = all.at(name);
  return Tensor::from<float>({array.data<float>(), static_cast<size_t>(array.elements())},
                             Shape(array.shape));
}
Tensor made(const Shape& shape, double low, double high, const std::string& key) {
  return fill(DType::f32, shape, low, high, hash_text(key));
}

// Pixels between two others are as exact as their places: a rounding at 50 columns is 4e-6 of a pixel.
constexpr double kBetween = 3e-5;

void check_perspective(const std::string& name, const Shape& shape, double scale, const Sampling& sampling) {
  const Tensor shares = made({shape[0], 4, 2}, -0.5 * scale, 0.5 * scale, name + "/shares");
  const Tensor y = perspective_images(made(shape, 0, 255, name + "/x"), shares, sampling, "test");
  EXPECT_EQ(difference(y, golden(name), kBetween), "") << name;
}

TEST(RandomPerspective, MovesImagesAsKerasDoes) {
  check_perspective("perspective", {3, 7, 9, 2}, 0.4, {"bilinear", "constant", 5});
  check_perspective("perspective_strong", {2, 8, 6, 3}, 1, {"bilinear", "constant", 0});
  check_perspective("perspective_nearest", {2, 6, 7, 1}, 0.6, {"nearest", "constant", -1});
}

void check_elastic(const std::string& name, const Shape& shape, double strength, const Sampling& sampling) {
  const Tensor noise = made({shape[0], shape[1], shape[2]}, -1.7, 1.7, name + "/noise");
  const Tensor y = elastic_images(made(shape, 0, 255, name + "/x"), expand_dims(noise, -1),
                                  Tensor::full(DType::f32, {1}, strength), 1, sampling, "test");
  EXPECT_EQ(difference(y, golden(name), kBetween), "") << name;
}

TEST(RandomElasticTransform, BendsImagesAsKerasDoes) {
  check_elastic("elastic", {2, 45, 50, 3}, 1, {"bilinear", "reflect", 0});
  check_elastic("elastic_weak", {2, 44, 41, 2}, 0.6, {"bilinear", "constant", 9});
  check_elastic("elastic_small", {3, 12, 10, 2}, 0.9, {"nearest", "nearest", 0});
  check_elastic("elastic_mirror", {2, 30, 22, 1}, 1, {"bilinear", "mirror", 0});
  check_elastic("elastic_wrap", {2, 22, 30, 1}, 1, {"bilinear", "wrap", 0});
}

TEST(RandomWarps, ActOnTheShareAskedForAndStayInTheRange) {
  const Tensor x = made({60, 21, 20, 1}, 0, 255, "warps");
  for (const Layer& layer : {RandomPerspective({0.5, 0.5}, {.scale = 0.5, .seed = 1}),
                             RandomElasticTransform({0.5, 0.5}, {.scale = {0.5, 1}, .seed = 2})}) {
    const Tensor y = run_layer(layer, x, true);
    const Tensor same = cast(all(equal(x, y), {1, 2, 3}), DType::f32);
    EXPECT_NEAR(mean(same).item(), 0.5, 0.25) << layer->class_name();
    EXPECT_GE(min(y).item(), 0);
    EXPECT_LE(max(y).item(), 255);
  }
  EXPECT_THROW(RandomPerspective(1.5), Error);
  EXPECT_THROW(run_layer(RandomPerspective(1.0, {.scale = 2}), x, true), Error);
  EXPECT_THROW(run_layer(RandomElasticTransform(1.0, {.fill_mode = "none"}), x, true), Error);
}

constexpr int kChanges = 11;
Tensor changes_input() { return made({2, 6, 7, 3}, 0, 255, "change/x"); }

TEST(RandAugment, MakesEachOfKerassChanges) {
  const Layer layer = RandAugment({.num_ops = 1, .factor = 0.0, .seed = 1});
  std::vector<int> met(kChanges);
  for (int step = 0; step < 120; ++step) {
    const Tensor y = run_layer(layer, changes_input(), true);
    bool found = false;
    for (int i = 0; i < kChanges; ++i) {
      if (!difference(y, golden(concat("change_", i)), 1e-5).empty()) continue;
      found = true;
      ++met[static_cast<size_t>(i)];
    }
    ASSERT_TRUE(found) << "step " << step;
  }
  for (int i = 0; i < kChanges; ++i) EXPECT_GT(met[static_cast<size_t>(i)], 0) << i;
}

TEST(AugMix, IsBetweenTheImagesAndOneOfKerassChanges) {
  const Layer layer = AugMix({.num_chains = 1, .chain_depth = 1, .factor = 0.0, .alpha = 0.7, .seed = 1});
  const Tensor x = changes_input();
  double shares = 0;
  int counted = 0;
  for (int step = 0; step < 60; ++step) {
    const Tensor moved = run_layer(layer, x, true) - x;
    bool found = max(absolute(moved)).item() < 1e-3;
    for (int i = 0; i < kChanges && !found; ++i) {
      const Tensor whole = golden(concat("change_", i)) - x;
      const double size = sum(square(whole)).item();
      if (size == 0) continue;
      const double share = sum(moved * whole).item() / size;
      found = share >= 0 && share <= 1 && max(absolute(moved - whole * share)).item() < 1e-2;
      if (found) shares += share, ++counted;
    }
    ASSERT_TRUE(found) << "step " << step;
  }
  ASSERT_GT(counted, 20);  // of eleven changes and none, four do nothing with a factor of 0
  EXPECT_NEAR(shares / counted, 0.5, 0.25);
}

TEST(AugMix, MixesSeveralChainsWithinTheRange) {
  const Tensor x = made({3, 8, 8, 3}, 0, 1, "mix");
  const Layer layer = AugMix({.value_range = {0, 1}, .factor = 0.8, .seed = 3});
  const Tensor first = run_layer(layer, x, true), second = run_layer(layer, x, true);
  EXPECT_NE(bit_difference(first, second), "");
  EXPECT_GE(min(first).item(), 0);
  EXPECT_LE(max(first).item(), 1);
  EXPECT_THROW(run_layer(AugMix({.alpha = 0}), x, true), Error);
  EXPECT_THROW(RandAugment({.factor = 2.0}), Error);
}

Tensor image(const Tensor& all, int64_t i) {
  return slice(all, {i, 0, 0, 0}, {i + 1, all.dim(1), all.dim(2), all.dim(3)});
}

// Each image goes one way or the other; in some steps all four have met both.
void check_both_ways(const std::string& name, const Layer& layer, double high = 255) {
  const Tensor x = made({4, 7, 9, 3}, 0, high, name + "/x");
  const Tensor ways[] = {golden(name + "_0"), golden(name + "_1")};
  int met[2] = {0, 0};
  for (int step = 0; step < 10; ++step) {
    const Tensor y = run_layer(layer, x, true);
    for (int64_t i = 0; i < x.dim(0); ++i) {
      const bool one = difference(image(y, i), image(ways[0], i), 1e-5).empty();
      const bool other = difference(image(y, i), image(ways[1], i), 1e-5).empty();
      ASSERT_TRUE(one != other) << name << " " << i << ": "
                                << difference(image(y, i), image(ways[0], i), 1e-5);
      ++met[other];
    }
  }
  EXPECT_GT(std::min(met[0], met[1]), 4) << name;
}

TEST(RandomShear, MovesImagesAsKerasDoes) {
  check_both_ways("shear_reflect", RandomShear({0.3, 0.3}, {0.2, 0.2}, {.seed = 1}));
  check_both_ways("shear_constant",
                  RandomShear({0.8, 0.8}, {0.0, 0.0}, {.fill_mode = "constant", .seed = 1, .fill_value = 7}));
  check_both_ways(
      "shear_nearest",
      RandomShear({0.0, 0.0}, {0.6, 0.6}, {.fill_mode = "nearest", .interpolation = "nearest", .seed = 1}));
  check_both_ways("shear_wrap", RandomShear({0.4, 0.4}, {0.9, 0.9}, {.fill_mode = "wrap", .seed = 1}));
}

TEST(RandomHue, TurnsColorsAsKerasDoes) {
  check_both_ways("hue_bytes", RandomHue({0.3, 0.3}, {.seed = 1}));
  check_both_ways("hue_unit", RandomHue({0.8, 0.8}, {.value_range = {0, 1}, .seed = 1}), 1);
}

// The gradient of sum(layer(x) * dy) in training.
void check_gradient(const std::string& name, const Layer& layer, double high = 255) {
  const Tensor x = made({2, 5, 6, 3}, 0.1 * high, 0.9 * high, name + "/x");
  const Tensor dy = made({2, 5, 6, 3}, -1, 1, name + "/dy");
  Graph graph;
  Trace trace(graph, true);
  const Tensor in = graph.input("x", DType::f32, x.shape());
  const Tensor total = sum(trace.call(layer, {&in, 1})[0] * dy);
  graph.output("dx", gradients(total, {&in, 1})[0]);
  trace.add_updates();
  EXPECT_EQ(difference(Program::compile(graph)(std::vector<Tensor>{x})[0], golden("gradient_" + name), 1e-4),
            "")
      << name;
}

TEST(ImageLayers, LetGradientsThroughAsKerasDoesOnJax) {
  check_gradient("rotation", RandomRotation({0.1, 0.1}));
  check_gradient("rotation_constant",
                 RandomRotation({-0.2, -0.2}, {.fill_mode = "constant", .fill_value = 7}));
  check_gradient("zoom", RandomZoom({0.3, 0.3}, {-0.2, -0.2}, {.fill_mode = "nearest"}));
  check_gradient("translation", RandomTranslation({0.3, 0.3}, {-0.25, -0.25}, {.fill_mode = "wrap"}));
  check_gradient("saturation", RandomSaturation({0.3, 0.3}, {.value_range = {0, 1}}), 1);
  check_gradient("hue", RandomHue({0.0, 0.0}, {.value_range = {0, 1}}), 1);
  check_gradient(
      "jitter",
      RandomColorJitter(
          {.value_range = {0, 1}, .brightness_factor = {0.05, 0.05}, .saturation_factor = {0.4, 0.4}}),
      1);
}

TEST(IntegerLookup, LearnsItsVocabulary) {
  const Tensor data = Tensor::of({5, 5, 7, 9, 9, 9, 2, 7, 0}, DType::i64);
  const Layer layer = IntegerLookup(), masked = IntegerLookup({.mask_token = 0, .max_tokens = 4});
  adapt(layer, data);
  adapt(masked, data);
  const Tensor x = Tensor::of({5, 7, 0, 9, 1, 2}, DType::i64);
  EXPECT_EQ(run_layer(layer, x).str(), "[3 2 5 1 0 4]");  // Keras's adapt() of the same data
  EXPECT_EQ(run_layer(masked, x).str(), "[1 3 0 2 1 1]");
  EXPECT_THROW(adapt(IntegerLookup({.vocabulary = {1, 2}}), data), Error);
  EXPECT_THROW(adapt(Dense(3), data), Error);
}

TEST(ImageLayers, RefuseSizesThatNoImageHas) {
  const Tensor x = made({1, 4, 4, 3}, 0, 255, "sizes");
  constexpr int64_t kHuge = int64_t{1} << 62;
  EXPECT_THROW(run_layer(Equalization({.bins = kHuge}), x, true), Error);
  EXPECT_THROW(run_layer(Equalization({.bins = 0}), x, true), Error);
  EXPECT_THROW(run_layer(ContrastLimitedAdaptiveHistogramEqualization({.tile_grid_size = {kHuge, 1}}), x),
               Error);
  EXPECT_THROW(run_layer(ContrastLimitedAdaptiveHistogramEqualization({.tile_grid_size = {2}}), x), Error);
  EXPECT_THROW(run_layer(AugMix({.num_chains = kHuge}), x, true), Error);
  EXPECT_THROW(run_layer(AugMix({.chain_depth = kHuge}), x, true), Error);
  EXPECT_THROW(run_layer(RandAugment({.num_ops = kHuge}), x, true), Error);
  EXPECT_THROW(run_layer(STFTSpectrogram({.frame_length = kHuge}), x[0]), Error);
  EXPECT_THROW(run_layer(STFTSpectrogram({.frame_length = 4, .frame_step = 9}), x[0]), Error);
  EXPECT_THROW(run_layer(STFTSpectrogram({.mode = "loud"}), x[0]), Error);
  EXPECT_THROW(run_layer(MelSpectrogram({.fft_length = kHuge}), x[{0, 0}]), Error);
  EXPECT_THROW(run_layer(MelSpectrogram({.fft_length = 32}), x[{0, 0}]), Error);  // of four samples
}

TEST(Discretization, LearnsItsBoundaries) {
  struct Row {
    std::string name;
    int64_t count;
    int bins;
    double epsilon;
  };
  for (const Row& row : {Row{"few", 30, 4, 0.01}, Row{"many", 5000, 10, 0.01}, Row{"coarse", 1000, 3, 0.2}}) {
    const Tensor data = made({row.count}, -3, 5, "boundaries_" + row.name);
    const std::vector<double> found =
        bin_boundaries_of({data.data<float>(), data.data<float>() + row.count}, row.bins, row.epsilon);
    const Tensor want = golden("boundaries_" + row.name);
    ASSERT_EQ(std::ssize(found), want.dim(0));
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], want[i].item(), 1e-5) << row.name << " " << i;
  }
  const Layer layer = Discretization({.num_bins = 4});
  adapt(layer, made({30}, -3, 5, "boundaries_few"));
  EXPECT_EQ(run_layer(layer, Tensor::of({-3, 5})).str(), "[0 3]");
  EXPECT_THROW(adapt(Discretization({.bin_boundaries = {1, 2}}), Tensor::of({1, 2})), Error);
  EXPECT_THROW(adapt(Discretization(), Tensor::of({1, 2})), Error);
}

TEST(RandomColorJitter, GoesOnAfterAnError) {
  const Layer layer = RandomColorJitter({.saturation_factor = {0.2, 0.8}, .seed = 3});
  EXPECT_THROW(run_layer(layer, made({2, 4, 4, 1}, 0, 255, "gray"), true), Error);
  const Tensor x = made({2, 4, 4, 3}, 0, 255, "colors");
  EXPECT_NE(bit_difference(run_layer(layer, x, true), x), "");
}

TEST(RandomColorJitter, DrawsAnewInEachStep) {
  const Tensor x = made({3, 8, 8, 3}, 50, 200, "jitter");
  const Layer layer = RandomColorJitter({.brightness_factor = 0.2, .hue_factor = 0.3, .seed = 3});
  EXPECT_NE(bit_difference(run_layer(layer, x, true), run_layer(layer, x, true)), "");
  EXPECT_EQ(bit_difference(run_layer(layer, x), x), "");
}

}  // namespace
}  // namespace plimsoll
