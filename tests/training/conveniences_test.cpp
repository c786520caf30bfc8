// What is short to write in C++: models called on values, arithmetic on Symbols, names in brackets, losses
// and metrics from lambdas, values with gradients. And SwapEMAWeights.
#include <gtest/gtest.h>

#include "plimsoll/error.h"
#include "plimsoll/model.h"
#include "plimsoll/npy.h"
#include "plimsoll/ops.h"
#include "plimsoll/value_and_grad.h"
#include "support/compare.h"
#include "support/fill.h"

namespace plimsoll {
namespace {

using testing::bit_difference;
using testing::difference;
using testing::fill;

Tensor numbers(const Shape& shape, uint64_t seed) { return fill(DType::f32, shape, -1, 1, seed); }

TEST(Conveniences, AModelIsCalledOnValues) {
  Sequential model({Input({3}), Dense(4, {.activation = "relu"}), Dense(2)});
  const Tensor x = numbers({5, 3}, 1);
  EXPECT_EQ(bit_difference(model(x), model.predict_on_batch({x})[0]), "");
}

TEST(Conveniences, SymbolsAreAddedAndScaled) {
  const Symbol a = Input({3}), b = Input({3});
  Model model({a, b}, {2.0 * (a + b) - a * b / 4.0 + 1.0, 3.0 - (a - b), -a});
  const Tensor x = numbers({4, 3}, 1), y = numbers({4, 3}, 2);
  const std::vector<Tensor> got = model.predict_on_batch({x, y});
  EXPECT_EQ(difference(got[0], 2.0 * (x + y) - x * y / 4.0 + 1.0, 1e-6), "");
  EXPECT_EQ(difference(got[1], 3.0 - (x - y), 1e-6), "");
  EXPECT_EQ(difference(got[2], -x, 1e-6), "");
  const Model again = model_from_json(model.to_json());
  EXPECT_EQ(again.layers().size(), model.layers().size());
}

// The values are NumPy's: x * (1 / 3) rounds twice and differs in the last bit for 5, 7 and 10.
TEST(Conveniences, SymbolsAreDividedByNumbersWithOneRounding) {
  const Symbol a = Input({4});
  const Tensor x = Tensor::of({{5, 7, 10, 11}});
  const std::vector<float> thirds = {0x1.aaaaaap+0F, 0x1.2aaaaap+1F, 0x1.aaaaaap+1F, 0x1.d55556p+1F};
  EXPECT_EQ(bit_difference(Model(a, a / 3.0)(x), Tensor::from<float>(thirds, {1, 4})), "");
}

TEST(Conveniences, NumbersMeetTheDtypeOfASymbolAsInKeras) {
  const Symbol wide = Input({2}, {.dtype = "float64"}), whole = Input({2}, {.dtype = "int32"});
  const std::vector<double> tenths = {3 * 0.1, 5 * 0.1};
  const Tensor x = cast(Tensor::of({{3, 5}}), DType::f64);
  EXPECT_EQ(bit_difference(Model(wide, wide * 0.1)(x), Tensor::from<double>(tenths, {1, 2})), "");
  EXPECT_EQ(bit_difference(Model(wide, wide + wide)(x), x * 2.0), "");
  const Tensor half = Model(whole, whole * 0.5)(cast(x, DType::i32));
  EXPECT_EQ(bit_difference(half, Tensor::of({{1.5, 2.5}})), "");
}

template <class Call>
void expect_names(const Call& call, std::string_view name) {
  try {
    call();
    ADD_FAILURE() << "did not throw";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::not_found);
    EXPECT_NE(std::string(e.what()).find(name), std::string::npos) << e.what();
  }
}

TEST(Conveniences, NamesInBracketsSayWhatThereIs) {
  const Logs logs = {{"accuracy", 0.5}, {"loss", 2.0}};
  EXPECT_EQ(logs["accuracy"], 0.5);
  EXPECT_EQ(logs[1].second, 2.0);
  expect_names([&] { return logs["acuracy"]; }, "accuracy");
  const NamedTensors data = {{"x_train", numbers({2}, 1)}, {"y_train", numbers({2}, 2)}};
  EXPECT_EQ(bit_difference(data["y_train"], numbers({2}, 2)), "");
  expect_names([&] { return data["x_tran"]; }, "x_train");
}

TEST(Conveniences, LossesAndMetricsFromLambdasAreTheBuiltInOnes) {
  const auto squares = [](const Tensor& y, const Tensor& p) { return mean(square(y - p), {-1}); };
  const Tensor x = numbers({12, 3}, 1), y = numbers({12, 2}, 2);
  const auto trained = [&](const Loss& loss, const Metric& metric) {
    Sequential model({Input({3}), Dense(2, {.kernel_initializer = GlorotUniform({.seed = 4})})});
    model.compile({.optimizer = SGD(0.1), .loss = loss, .metrics = {metric}});
    return model.fit(x, y, {.epochs = 3, .verbose = 0, .shuffle = false});
  };
  const History own = trained(LambdaLoss(squares), metrics::MeanMetricWrapper(squares, {.name = "squares"}));
  const History built_in = trained("mse", "mse");
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(own["loss"][i], built_in["loss"][i], 1e-6);
    EXPECT_NEAR(own["squares"][i], built_in["mse"][i], 1e-6);
  }
  EXPECT_THROW(LambdaLoss({}), Error);
}

TEST(ValueAndGrad, AreThoseOfCalculus) {
  const Tensor x = numbers({6, 3}, 1), y = numbers({6, 1}, 2);
  const auto loss =
      value_and_grad([&](std::span<const Tensor> w) { return mean(square(matmul(x, w[0]) + w[1] - y)); });
  const Tensor w = numbers({3, 1}, 3), b = numbers({1}, 4);
  const ValueAndGradients got = loss({w, b});
  const Tensor error = matmul(x, w) + b - y;
  EXPECT_NEAR(got.value.item(), mean(square(error)).item(), 1e-6);
  EXPECT_EQ(difference(got.gradients[0], matmul(transpose(x, {1, 0}), error) / 3.0, 1e-5), "");
  EXPECT_NEAR(got.gradients[1].item(), sum(error).item() / 3, 1e-5);
  EXPECT_NEAR(loss({w * 0.0, b * 0.0}).value.item(), mean(square(y)).item(), 1e-6);
  EXPECT_THROW(value_and_grad([](std::span<const Tensor> a) { return a[0]; })({x}), Error);
  EXPECT_THROW(value_and_grad({}), Error);
}

TEST(SwapEMAWeights, ShowsTheAveragesToEvaluateAndPutsTheWeightsBack) {
  const Tensor x = numbers({20, 3}, 1), y = numbers({20, 1}, 2);
  Sequential model({Input({3}), Dense(1)});
  model.compile({.optimizer = SGD(0.3, {.use_ema = true, .ema_momentum = 0.9}), .loss = "mse"});
  for (int i = 0; i < 6; ++i) model.train_on_batch({x}, {y});
  const std::vector<Tensor> before = model.get_weights();
  const double plain = model.evaluate(x, y)["loss"];
  const double averaged = model.evaluate(x, y, {.callbacks = {SwapEMAWeights()}})["loss"];
  EXPECT_GT(std::abs(plain - averaged), 1e-4);
  const std::vector<Tensor> after = model.get_weights();
  for (size_t i = 0; i < before.size(); ++i) EXPECT_EQ(bit_difference(before[i], after[i]), "");

  Sequential without({Input({3}), Dense(1)});
  without.compile({.loss = "mse"});
  EXPECT_THROW(without.evaluate(x, y, {.callbacks = {SwapEMAWeights()}}), Error);
}

TEST(SeveralOutputs, TakeMetricsByName) {
  const Symbol x = Input({3});
  Model model({x}, {Dense(1, {.name = "price"})(x), Dense(2, {.activation = "softmax", .name = "kind"})(x)});
  model.compile({.optimizer = "sgd",
                 .loss = {{"price", "mse"}, {"kind", "sparse_categorical_crossentropy"}},
                 .metrics_per_output = {{"price", {"mae", "mse"}}, {"kind", {"accuracy"}}}});
  const Tensor data = Tensor::full(DType::f32, {4, 3}, 1);
  const Logs logs =
      model.evaluate({data}, {Tensor::zeros(DType::f32, {4, 1}), Tensor::zeros(DType::i32, {4})});
  EXPECT_GE(logs["price_mae"], 0);
  EXPECT_GE(logs["price_mse"], 0);
  EXPECT_LE(logs["kind_accuracy"], 1);
}

TEST(Options, HaveADtype) {
  Sequential model({Input({3}), Dense(4, {.dtype = "mixed_bfloat16"}), Dense(2, {.dtype = DType::f64})});
  EXPECT_EQ(model.layers()[1]->compute_dtype(), DType::bf16);
  EXPECT_EQ(model.layers()[1]->variable_dtype(), DType::f32);
  EXPECT_EQ(model.outputs()[0].dtype(), DType::f64);
  EXPECT_EQ(Input({3}, {.dtype = "int32"}).dtype(), DType::i32);
  EXPECT_THROW(Dense(4, {.dtype = "float31"}), Error);
  EXPECT_THROW(Input({3}, {.dtype = "int31"}), Error);
}

}  // namespace
}  // namespace plimsoll
