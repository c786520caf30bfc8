// What somebody who knows Keras writes first in C++: layers on values, single tensors, shapes, pop().
#include <gtest/gtest.h>

#include <functional>
#include <sstream>

#include "plimsoll/contents.h"
#include "plimsoll/error.h"
#include "plimsoll/model.h"
#include "plimsoll/ops/math.h"

namespace plimsoll {
namespace {

template <class T>
std::string printed(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

std::string refusal_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was refused";
}

void expect_says(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words)
    EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
}

Tensor ids(const std::vector<int32_t>& values, const Shape& shape) {
  return Tensor::from<int32_t>(values, shape);
}

TEST(Layer, IsCalledOnValues) {
  Layer d = Dense(2, {.kernel_initializer = "ones"});
  const Tensor x = Tensor::of({{1, -2, 3}, {4, 5, -6}});
  EXPECT_EQ(to_vector<float>(d(x)), (std::vector<float>{2, 2, 3, 3}));
  EXPECT_EQ(d->get_weights().size(), 2u);
  EXPECT_EQ(to_vector<float>(ReLU()(x)), (std::vector<float>{1, 0, 3, 4, 5, 0}));
  EXPECT_EQ(Concatenate()({x, d(x)}).shape(), (Shape{2, 5}));
  EXPECT_EQ(LSTM(4, {.return_state = true}).outputs({Tensor::zeros(DType::f32, {2, 3, 1})}).size(), 3u);
  EXPECT_EQ(to_vector<float>(Identity()(x)), to_vector<float>(x));
}

TEST(Layer, OnValuesTrainsOnlyIfAsked) {
  const Tensor x = Tensor::full(DType::f32, {4, 256}, 1);
  EXPECT_EQ(to_vector<float>(Dropout(0.5)(x)), to_vector<float>(x));
  EXPECT_NE(to_vector<float>(Dropout(0.5)(x, true)), to_vector<float>(x));
}

TEST(Layer, KnowsTheShapesOfItsFirstCall) {
  Sequential model({Input({8, 8, 1}), Conv2D(4, 3, {.name = "c"}), Flatten()});
  EXPECT_EQ(printed(model.get_layer("c")->output_shape()), "(None, 6, 6, 4)");
  EXPECT_EQ(model.get_layer("c")->input_shape(), (SymbolShape{-1, 8, 8, 1}));
  EXPECT_EQ(printed(model.layers()[0]->output_shape()), "(None, 8, 8, 1)");
  Model part(model.input(), model.get_layer("c")->output());
  EXPECT_EQ(part.predict(Tensor::zeros(DType::f32, {2, 8, 8, 1})).shape(), (Shape{2, 6, 6, 4}));
  expect_says(refusal_of([] { (void)Dense(1, {.name = "alone"})->output_shape(); }), {"alone", "not called"});
}

TEST(Model, PrintsItsShapes) {
  Sequential model({Input({4}), Dense(3)});
  EXPECT_EQ(printed(model.input_shape()), "(None, 4)");
  EXPECT_EQ(printed(model.output_shape()), "(None, 3)");
  EXPECT_EQ(printed(Shape({2, 3})) + printed(DType::f32), "(2, 3)float32");
  expect_says(refusal_of([] { (void)Sequential({Dense(3)}).output_shape(); }), {"no output yet", "Input"});
}

TEST(Model, TrainsOnABatchOfSingleTensors) {
  set_random_seed(1);
  Sequential model({Input({4}), Dense(1)});
  model.compile({.optimizer = SGD(0.1), .loss = "mse"});
  const Tensor x = Tensor::full(DType::f32, {8, 4}, 0.5), y = Tensor::full(DType::f32, {8, 1}, 0.25);
  const double first = model.train_on_batch(x, y)["loss"];
  EXPECT_LT(model.test_on_batch(x, y)["loss"], first);
  EXPECT_EQ(model.predict_on_batch(x).shape(), (Shape{8, 1}));
  EXPECT_EQ(model.predict_on_batch({x}).size(), 1u);
  EXPECT_GT(model.train_on_batch(x, y, Tensor::full(DType::f32, {8}, 1))["loss"], 0);
}

TEST(Model, TakesListsAndSingleTensorsMixed) {
  Symbol a = Input({2}), b = Input({2});
  Model model({a, b}, Dense(1)(Add()({a, b})));
  EXPECT_EQ(Model(a, {Dense(1)(a), a}).outputs().size(), 2u);
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const Tensor x = Tensor::zeros(DType::f32, {8, 2}), y = Tensor::zeros(DType::f32, {8, 1});
  const History h = model.fit({x, x}, y, {.verbose = 0, .validation_data = {{x, x}, y}});
  EXPECT_EQ(h["val_loss"].size(), 1u);
}

TEST(Sequential, PopTakesTheLastLayerAway) {
  Sequential model({Input({6}), Dense(8, {.name = "body"}), Dense(3, {.name = "head"})});
  model.compile({.optimizer = "adam", .loss = "mse"});
  const Tensor x = Tensor::zeros(DType::f32, {4, 6});
  model.fit(x, Tensor::zeros(DType::f32, {4, 3}), {.verbose = 0});
  model.pop();
  EXPECT_EQ(model.predict(x).shape(), (Shape{4, 8}));
  model.add(Dense(2, {.name = "head"}));
  EXPECT_EQ(model.predict(x).shape(), (Shape{4, 2}));
  model.fit(x, Tensor::zeros(DType::f32, {4, 2}), {.verbose = 0});
  model.pop();
  model.pop();
  expect_says(refusal_of([&] { model.pop(); }), {"pop()"});
}

TEST(Embedding, RefusesAnIndexItHasNoRowFor) {
  Sequential model(
      {Input({3}, {.dtype = "int32"}), Embedding(10, 2, {.name = "words"}), Flatten(), Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const Tensor good = ids({0, 9, 1, 2, 3, 4}, {2, 3}), bad = ids({0, 9, 1, 2, 12, 4}, {2, 3});
  const Tensor y = Tensor::zeros(DType::f32, {2, 1});
  model.fit(good, y, {.verbose = 0});
  const std::vector<float> before = to_vector<float>(model.get_weights()[0]);
  expect_says(refusal_of([&] { model.fit(bad, y, {.verbose = 0, .shuffle = false}); }),
              {"words", "0 to 9", "12 at [1, 1]", "input_dim=13"});
  EXPECT_EQ(to_vector<float>(model.get_weights()[0]), before);
  expect_says(refusal_of([&] { (void)model.predict(bad); }), {"words", "12"});
  expect_says(refusal_of([&] { (void)Embedding(10, 2)(bad); }), {"12"});
}

TEST(Embedding, LooksAtTheColumnItReadsAlone) {
  Symbol x = Input({3});
  Model model(x, Embedding(4, 2)(x[{Slice{}, 1}]));
  EXPECT_EQ(model.predict(Tensor::of({{100, 3, 100}})).shape(), (Shape{1, 2}));
  expect_says(refusal_of([&] { (void)model.predict(Tensor::of({{0, 4, 0}})); }), {"4 at [0]"});
}

TEST(SparseCrossentropy, RefusesALabelWithoutAClass) {
  Sequential model({Input({4}), Dense(3, {.activation = "softmax"})});
  model.compile({.optimizer = "sgd", .loss = "sparse_categorical_crossentropy"});
  const Tensor x = Tensor::zeros(DType::f32, {3, 4});
  expect_says(refusal_of([&] {
                model.fit(x, ids({1, 2, 3}, {3}), {.verbose = 0, .shuffle = false});
              }),
              {"0 to 2 for 3 classes", "3 at [2]", "Count classes from 0"});
  expect_says(refusal_of([&] { model.evaluate(x, ids({0, -1, 2}, {3})); }), {"-1", "ignore_class"});
  model.compile({.optimizer = "sgd", .loss = SparseCategoricalCrossentropy({.ignore_class = -1})});
  EXPECT_GT(model.evaluate(x, ids({0, -1, 2}, {3}))["loss"], 0);
}

}  // namespace
}  // namespace plimsoll
