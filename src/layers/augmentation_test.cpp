// Layers that change images by chance: what must hold of every draw.
#include <gtest/gtest.h>

#include <cmath>

#include "layers/base/layer_testing.h"
#include "plimsoll/error.h"
#include "plimsoll/layers.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"
#include "support/compare.h"
#include "support/fill.h"

namespace plimsoll {
namespace {

using testing::bit_difference;
using testing::difference;
using testing::fill;

Tensor images(const Shape& shape) { return fill(DType::f32, shape, 0, 255, 7); }
Tensor image(const Tensor& all, int64_t i) {
  return slice(all, {i, 0, 0, 0}, {i + 1, all.dim(1), all.dim(2), all.dim(3)});
}

TEST(RandomFlip, FlipsSomeImagesAndLeavesTheOthers) {
  const Tensor x = images({40, 4, 5, 3});
  for (const auto& [mode, axes] : {std::pair<std::string, Ints>{"horizontal", {2}},
                                   {"vertical", {1}},
                                   {"horizontal_and_vertical", {1, 2}}}) {
    const Tensor y = run_layer(RandomFlip(mode, {.seed = 1}), x, true);
    const Tensor turned = reverse(x, axes);
    int flips = 0;
    for (int64_t i = 0; i < x.dim(0); ++i) {
      const bool same = bit_difference(image(y, i), image(x, i)).empty();
      const bool flipped = bit_difference(image(y, i), image(turned, i)).empty();
      ASSERT_TRUE(same || flipped) << mode << " " << i;
      flips += flipped;
    }
    EXPECT_GT(flips, 8);
    EXPECT_LT(flips, 32);
  }
  EXPECT_THROW(run_layer(RandomFlip("sideways"), x, true), Error);
}

TEST(RandomCrop, IsAPartOfTheImagesTheSameForAll) {
  const Tensor x = images({2, 6, 7, 3});
  const Layer layer = RandomCrop(3, 4, {.seed = 3});
  for (int step = 0; step < 5; ++step) {
    const Tensor y = run_layer(layer, x, true);
    ASSERT_EQ(y.shape(), (Shape{2, 3, 4, 3}));
    int found = 0;
    for (int64_t top = 0; top <= 3; ++top) {
      for (int64_t left = 0; left <= 3; ++left) {
        const Tensor part = slice(x, {0, top, left, 0}, {2, top + 3, left + 4, 3});
        found += bit_difference(part, y).empty();
      }
    }
    EXPECT_EQ(found, 1);
  }
}

TEST(RandomShear, OfNothingIsNothing) {
  const Tensor x = images({3, 5, 6, 2});
  EXPECT_EQ(difference(run_layer(RandomShear(0.0, 0.0), x, true), x, 1e-6), "");
  EXPECT_NE(difference(run_layer(RandomShear({0.3, 0.3}, 0.0), x, true), x, 1e-3), "");
}

TEST(RandomHue, KeepsTheValueAndTheRange) {
  const Tensor x = images({4, 5, 6, 3});
  const Tensor y = run_layer(RandomHue({0.2, 0.6}, {.seed = 1}), x, true);
  EXPECT_EQ(difference(max(y, {3}), max(x, {3}), 1e-4), "");
  EXPECT_NE(difference(y, x, 1e-2), "");
}

TEST(RandomErasing, FillsABoxOfTheSizeAskedFor) {
  const Tensor x = images({30, 16, 16, 3}) + 1.0;
  const Tensor y =
      run_layer(RandomErasing({1.0, 1.0}, {.scale = {0.25, 0.25}, .fill_value = {0.0}, .seed = 2}), x, true);
  const Tensor gone = equal(y, scalar_like(y, 0));
  EXPECT_EQ(bit_difference(where(gone, x, y), x), "");
  EXPECT_NEAR(mean(cast(gone, DType::f32)).item(), 0.25, 0.02);  // half of each side, up to a pixel
}

TEST(RandomSolarization, TurnsWhatIsAboveTheThreshold) {
  const Tensor x = images({8, 4, 4, 3});
  const Tensor y = run_layer(Solarization({.threshold_factor = {0.5, 0.5}, .seed = 4}), x, true);
  const Tensor same = equal(y, x), turned = less(absolute(y - (255.0 - x)), scalar_like(x, 1e-3));
  EXPECT_EQ(min(cast(bitwise_or(same, turned), DType::f32)).item(), 1.0);
}

TEST(AlphaDropout, KeepsMeanAndVarianceOfNormals) {
  const Tensor x = fill(DType::f32, {400, 500}, -std::sqrt(3.0), std::sqrt(3.0), 5);  // mean 0, variance 1
  const Tensor y = run_layer(AlphaDropout(0.3, {.seed = 1}), x, true);
  EXPECT_NEAR(mean(y).item(), 0, 0.02);
  EXPECT_NEAR(variance(y).item(), 1, 0.03);
  EXPECT_NE(bit_difference(y, x), "");
  EXPECT_EQ(bit_difference(run_layer(AlphaDropout(0.3), x), x), "");
}

TEST(ImageLayers, RefuseWhatTheyCannotDo) {
  EXPECT_THROW(RandomRotation(1.5), Error);
  EXPECT_THROW(RandomContrast(-0.1), Error);
  EXPECT_THROW(run_layer(RandomRotation(0.1, {.fill_mode = "mirror"}), images({1, 3, 3, 1}), true), Error);
  EXPECT_THROW(run_layer(RandomSaturation(0.1), images({1, 3, 3, 2}), true), Error);
  EXPECT_THROW(run_layer(RandomBrightness(0.1), Tensor::zeros(DType::f32, {3, 3}), true), Error);
  EXPECT_THROW(RandomErasing(1.0, {.value_range = {}}), Error);
  EXPECT_THROW(Solarization({.value_range = {1, 0}}), Error);
  EXPECT_THROW(run_layer(CenterCrop(0, 1), images({1, 3, 3, 1})), Error);
}

TEST(RandomCell, DropsInTrainingAlone) {
  const Tensor x = fill(DType::f32, {4, 6, 3}, -1, 1, 3);
  const Layer rnn =
      RNN(StackedRNNCells({LSTMCell(5, {.dropout = 0.5, .recurrent_dropout = 0.3, .seed = 1}), GRUCell(4)}));
  const Tensor still = run_layer(rnn, x);
  EXPECT_EQ(bit_difference(run_layer(rnn, x), still), "");
  EXPECT_NE(bit_difference(run_layer(rnn, x, true), still), "");
  EXPECT_THROW(RNN(Dense(3)), Error);
  EXPECT_THROW(StackedRNNCells({}), Error);
  const auto none = std::static_pointer_cast<LayerBase>(make_object(Family::layer, "StackedRNNCells"));
  EXPECT_THROW(run_layer(RNN(Layer(none)), x), Error);  // as a config without cells makes it
}

}  // namespace
}  // namespace plimsoll
