// Layers that draw random numbers or keep state, where there are no numbers of Keras to compare with.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "layers/base/config_json.h"
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

Tensor ones(const Shape& shape) { return Tensor::full(DType::f32, shape, 1); }
double share_of_zeros(const Tensor& t) { return mean(cast(equal(t, scalar_like(t, 0)), DType::f32)).item(); }

TEST(Dropout, KeepsTheMeanAndDropsItsShare) {
  const Tensor y = run_layer(Dropout(0.3, {.seed = 1}), ones({200, 300}), true);
  EXPECT_NEAR(share_of_zeros(y), 0.3, 0.01);
  EXPECT_NEAR(mean(y).item(), 1.0, 0.015);
  EXPECT_NEAR(max(y).item(), 1 / 0.7, 1e-6);
  EXPECT_EQ(share_of_zeros(run_layer(Dropout(1.0), ones({4, 4}), true)), 1.0);
  EXPECT_EQ(bit_difference(run_layer(Dropout(0.5), ones({4, 4})), ones({4, 4})), "");
}

TEST(Dropout, DrawsAnewEachStepAndTheSameAfterTheSameState) {
  const Layer a = Dropout(0.5, {.seed = 9});
  const Layer b = Dropout(0.5, {.seed = 9});
  const Tensor x = ones({8, 8});
  const Tensor first = run_layer(a, x, true);
  const Tensor second = run_layer(a, x, true);
  EXPECT_NE(bit_difference(first, second), "");
  EXPECT_EQ(bit_difference(run_layer(b, x, true), first), "");
  EXPECT_EQ(bit_difference(run_layer(b, x, true), second), "");
}

TEST(Dropout, SharesItsDrawAlongAxesOfOne) {
  const Tensor y = run_layer(Dropout(0.5, {.noise_shape = {-1, 1, 6}, .seed = 2}), ones({4, 5, 6}), true);
  EXPECT_EQ(bit_difference(y, broadcast_to(slice(y, {0, 0, 0}, {4, 1, 6}), y.shape())), "");
  const Tensor channels = run_layer(SpatialDropout2D(0.5, {.seed = 3}), ones({4, 5, 5, 6}), true);
  EXPECT_EQ(
      bit_difference(channels, broadcast_to(slice(channels, {0, 0, 0, 0}, {4, 1, 1, 6}), channels.shape())),
      "");
  const Tensor steps = run_layer(SpatialDropout1D(0.5, {.seed = 3}), ones({4, 5, 6}), true);
  EXPECT_EQ(bit_difference(steps, broadcast_to(slice(steps, {0, 0, 0}, {4, 1, 6}), steps.shape())), "");
  const Tensor volumes = run_layer(SpatialDropout3D(0.5, {.seed = 3}), ones({4, 3, 2, 5, 6}), true);
  EXPECT_EQ(bit_difference(volumes,
                           broadcast_to(slice(volumes, {0, 0, 0, 0, 0}, {4, 1, 1, 1, 6}), volumes.shape())),
            "");
  for (const Tensor& y : {channels, steps, volumes}) {
    EXPECT_GT(share_of_zeros(y), 0.1);
    EXPECT_LT(share_of_zeros(y), 0.9);
  }
  EXPECT_THROW(run_layer(Dropout(0.5, {.noise_shape = {3, 1, 6}}), ones({4, 5, 6}), true), Error);
  EXPECT_THROW(Dropout(1.5), Error);
}

TEST(StochasticDepth, DropsWholeSamplesAndScalesTheOthers) {
  const ConfigJson config = {{"class_name", "StochasticDepth"}, {"config", {{"drop_path_rate", 0.3}}}};
  const Layer layer(std::static_pointer_cast<LayerBase>(object_from_json(Family::layer, config)));
  const Tensor y = run_layer(layer, ones({500, 3, 4}), true);
  const Tensor first = slice(y, {0, 0, 0}, {500, 1, 1});
  EXPECT_EQ(bit_difference(y, broadcast_to(first, y.shape())), "");
  EXPECT_NEAR(share_of_zeros(first), 0.3, 0.06);
  EXPECT_NEAR(max(first).item(), 1 / 0.7, 1e-6);
}

TEST(Noise, HasTheMomentsAskedFor) {
  const Tensor noisy = run_layer(GaussianNoise(0.5, {.seed = 1}), ones({200, 300}), true);
  EXPECT_NEAR(mean(noisy).item(), 1.0, 0.01);
  EXPECT_NEAR(std::sqrt(variance(noisy).item()), 0.5, 0.01);
  const Tensor scaled = run_layer(GaussianDropout(0.2, {.seed = 1}), ones({200, 300}), true);
  EXPECT_NEAR(mean(scaled).item(), 1.0, 0.01);
  EXPECT_NEAR(std::sqrt(variance(scaled).item()), std::sqrt(0.2 / 0.8), 0.01);
}

TEST(Recurrent, DropsInTrainingOnly) {
  const Tensor x = fill(DType::f32, {3, 5, 4}, -1, 1, 1);
  for (const double recurrent : {0.0, 0.4}) {
    for (const auto make : {SimpleRNN, LSTM, GRU}) {
      const Layer layer = make(6, {.dropout = 0.5, .recurrent_dropout = recurrent, .seed = 4});
      const Tensor still = run_layer(layer, x);
      EXPECT_EQ(bit_difference(run_layer(layer, x), still), "");
      const Tensor dropped = run_layer(layer, x, true);
      EXPECT_NE(difference(dropped, still, 1e-3), "");
      EXPECT_NE(bit_difference(run_layer(layer, x, true), dropped), "");
    }
  }
}

TEST(Recurrent, StatefulGoesOnWhereItStopped) {
  const Tensor x = fill(DType::f32, {3, 6, 4}, -1, 1, 2);
  for (const auto make : {SimpleRNN, LSTM, GRU}) {
    const Layer whole = make(5, {});
    const Tensor want = run_layer(whole, x);
    const Layer parts = make(5, {.stateful = true});
    const Tensor head = slice(x, {0, 0, 0}, {3, 2, 4});
    const Tensor tail = slice(x, {0, 2, 0}, {3, 6, 4});
    run_layer(parts, head);
    parts->set_weights(whole->get_weights());
    for (int round = 0; round < 2; ++round) {
      reset_state(parts);
      run_layer(parts, head);
      EXPECT_EQ(difference(run_layer(parts, tail), want, 1e-6), "");
    }
  }
}

TEST(Normalization, AdaptsToData) {
  const Tensor data = fill(DType::f32, {400, 3}, 900, 1000, 3);
  const Layer layer = Normalization();
  adapt(layer, data);
  const Tensor y = run_layer(layer, data);
  EXPECT_EQ(difference(mean(y, {0}), Tensor::zeros(DType::f32, {3}), 1e-3, 1), "");
  EXPECT_EQ(difference(variance(y, {0}), ones({3}), 1e-3), "");
  EXPECT_THROW(adapt(Dense(2), data), Error);
  EXPECT_THROW(adapt(Normalization({.mean = {1}, .variance = {1}}), data), Error);
  EXPECT_THROW(adapt(layer, fill(DType::f32, {4, 2}, 0, 1, 3)), Error);
}

TEST(MixedPrecision, ComputesInBfloat16AndKeepsFloat32Weights) {
  const std::vector<std::pair<Layer, Shape>> cases = {
      {Dense(4, {.activation = "relu"}), {3, 5}},
      {Conv2D(3, 3), {2, 6, 6, 2}},
      {BatchNormalization(), {4, 5, 3}},
      {LayerNormalization(), {3, 8}},
      {GroupNormalization({.groups = 2}), {2, 3, 4}},
      {LSTM(4), {2, 3, 5}},
      {GRU(4, {.activation = "relu"}), {2, 3, 5}},
      {Bidirectional(LSTM(4)), {2, 3, 5}},
      {MaxPooling2D(2), {2, 4, 4, 3}},
  };
  for (const auto& [layer, shape] : cases) {
    layer->set_dtype_policy("mixed_bfloat16");
    layer->visit_inner(
        [](std::string_view, const Layer& inner) { inner->set_dtype_policy("mixed_bfloat16"); });
    const Tensor x = fill(DType::f32, shape, -1, 1, 5);
    for (const bool training : {false, true}) {
      const Tensor low = run_layer(layer, x, training);
      EXPECT_EQ(low.dtype(), DType::bf16) << layer->class_name();
      layer->set_dtype_policy("float32");
      layer->visit_inner([](std::string_view, const Layer& inner) { inner->set_dtype_policy("float32"); });
      EXPECT_EQ(difference(cast(low, DType::f32), run_layer(layer, x, training), 0.03, 1), "")
          << layer->class_name();
      layer->set_dtype_policy("mixed_bfloat16");
      layer->visit_inner(
          [](std::string_view, const Layer& inner) { inner->set_dtype_policy("mixed_bfloat16"); });
    }
    for (const VariablePtr& v : layer->weights()) EXPECT_EQ(v->value.dtype(), DType::f32) << v->name;
  }
  const Layer table = Embedding(1000, 2);
  table->set_dtype_policy("mixed_bfloat16");
  const Tensor ids = Tensor::full(DType::f32, {1, 1}, 999);  // not a bfloat16
  const Tensor rows = run_layer(table, ids);
  const Tensor row = slice(table->get_weights()[0], {999, 0}, {1000, 2});
  EXPECT_EQ(difference(reshape(cast(rows, DType::f32), Shape{1, 2}), row, 0.01), "");
}

TEST(Layers, ThatFailLeaveNothingBehind) {
  const Layer conv = Conv2D(4, 5);
  EXPECT_THROW(run_layer(conv, ones({1, 3, 3, 2})), Error);
  EXPECT_FALSE(conv->built());
  EXPECT_TRUE(conv->variables().empty());
  const Layer both = Bidirectional(LSTM(3));
  const Tensor state = ones({2, 3});
  EXPECT_THROW(run_layer(both, {ones({2, 4, 5}), state, state, state, state, state}), Error);
  EXPECT_TRUE(both->all_variables().empty());  // though the forward layer had been built
  const Layer dense = Dense(3);
  run_layer(dense, ones({2, 4}));
  const Tensor before = dense->get_weights()[0];
  EXPECT_THROW(run_layer(dense, ones({2, 5})), Error);
  EXPECT_EQ(bit_difference(dense->get_weights()[0], before), "");
  EXPECT_EQ(run_layer(dense, ones({2, 4})).shape(), (Shape{2, 3}));
}

TEST(Layers, SayWhatTheyExpected) {
  EXPECT_THROW(run_layer(Conv2D(4, 3, {.padding = "causal"}), ones({1, 8, 8, 2})), Error);
  EXPECT_THROW(run_layer(Conv2D(4, 3, {.strides = 2, .dilation_rate = 2}), ones({1, 8, 8, 2})), Error);
  EXPECT_THROW(run_layer(Conv2D(4, 3, {.groups = 3}), ones({1, 8, 8, 2})), Error);
  EXPECT_THROW(run_layer(Conv2D(4, 3, {.data_format = "NHWC"}), ones({1, 8, 8, 2})), Error);
  EXPECT_THROW(run_layer(MaxPooling1D(9), ones({1, 8, 2})), Error);
  EXPECT_THROW(run_layer(GroupNormalization({.groups = 3}), ones({1, 8})), Error);
  EXPECT_THROW(run_layer(Reshape({5, -1}), ones({2, 8})), Error);
  EXPECT_THROW(run_layer(Permute({1, 1}), ones({2, 8, 3})), Error);
  EXPECT_THROW(run_layer(Cropping1D({{4, 4}}), ones({2, 8, 3})), Error);
  EXPECT_THROW(run_layer(Concatenate(), {ones({2, 3}), ones({3, 3})}), Error);
  EXPECT_THROW(run_layer(Dense(3, {.activation = "rellu"}), ones({2, 3})), Error);
  EXPECT_THROW(run_layer(LSTM(3), ones({2, 3})), Error);
  EXPECT_THROW(Bidirectional(Dense(3)), Error);
}

TEST(Resizing, HasTheKernelsOfJax) {
  const Tensor row = reshape(fill(DType::f32, {7}, -1, 1, testing::hash_text("resize")), Shape{1, 1, 7, 1});
  const auto check = [&](int64_t width, const ResizingOptions& options, std::vector<float> want) {
    const Tensor y = run_layer(Resizing(1, width, options), row);
    EXPECT_EQ(difference(y, Tensor::from<float>(want, {1, 1, width, 1}), 1e-5), "") << options.interpolation;
  };
  check(10, {.interpolation = "bicubic"},
        {-0.3138103f, -0.02427698f, 0.01102054f, -0.4783049f, 0.4963349f, 0.6907722f, -0.1477577f,
         -0.8168097f, -0.1609495f, 0.8006881f});
  check(10, {.interpolation = "lanczos3"},
        {-0.3393826f, 0.02269863f, -0.02849714f, -0.4892105f, 0.4760263f, 0.8160452f, -0.1852574f,
         -0.9583405f, -0.1280993f, 0.8557123f});
  check(10, {.interpolation = "lanczos5"},
        {-0.3797243f, 0.07852228f, -0.04844346f, -0.4859713f, 0.3870496f, 0.9181257f, -0.2074778f, -1.060297f,
         -0.06208384f, 0.8508863f});
  check(3, {.antialias = true}, {-0.1450806f, 0.1833693f, -0.1269415f});
}

}  // namespace
}  // namespace plimsoll
