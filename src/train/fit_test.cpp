#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "plimsoll/error.h"
#include "plimsoll/model.h"

namespace plimsoll {
namespace {

TEST(Fit, LearnsALine) {
  set_random_seed(7);
  std::vector<float> x, y;
  for (int i = 0; i < 64; ++i) {
    x.push_back(static_cast<float>(i) / 64.0f);
    y.push_back(3.0f * x.back() - 1.0f);
  }
  Sequential model({Input({1}), Dense(16, {.activation = "relu"}), Dense(1)});
  model.compile({.optimizer = Adam(0.01), .loss = "mse"});
  const History h = model.fit(Tensor::from<float>(x, {64, 1}), Tensor::from<float>(y, {64, 1}),
                              {.batch_size = 16, .epochs = 150, .verbose = 0});
  EXPECT_GT(h["loss"].front(), 0.05);
  EXPECT_LT(h["loss"].back(), 1e-2);
  const Tensor one = model.predict(Tensor::full(DType::f32, {1, 1}, 0.5));
  EXPECT_NEAR(one.item(), 0.5, 0.2);
}

TEST(Fit, TrainsASmallConvolutionalNetwork) {
  set_random_seed(1);
  Sequential model({Input({8, 8, 1}), Conv2D(4, 3, {.activation = "relu"}), MaxPooling2D(2), Flatten(),
                    Dropout(0.5), Dense(3, {.activation = "softmax"})});
  EXPECT_EQ(model.outputs()[0].shape(), (SymbolShape{-1, 3}));
  EXPECT_EQ(model.count_params(), 9 * 4 + 4 + 36 * 3 + 3);
  model.compile({.optimizer = "adam",
                 .loss = "sparse_categorical_crossentropy",
                 .metrics = {"sparse_categorical_accuracy"}});
  const Tensor x = Tensor::full(DType::f32, {20, 8, 8, 1}, 0.5);
  const Tensor y = Tensor::zeros(DType::i32, {20});
  const History h = model.fit(x, y, {.batch_size = 8, .epochs = 10, .verbose = 0});
  EXPECT_LT(h["loss"].back(), h["loss"].front());
}

// One thread at a time for a model: another one's result is right, or it is told so.
TEST(Predict, OfTwoThreadsAtOnceIsRightOrRefused) {
  set_random_seed(3);
  Sequential model({Input({8}), Dense(64, {.activation = "relu"}), Dense(1)});
  const auto inputs = [](int thread, int64_t rows) {
    return Tensor::full(DType::f32, {rows, 8}, 1 + thread);
  };
  const double want[] = {model.predict_on_batch({inputs(0, 1)})[0].item(),
                         model.predict_on_batch({inputs(1, 1)})[0].item()};
  std::atomic<int> right{0}, wrong{0};
  const auto work = [&](int thread) {
    for (int i = 0; i < 300; ++i) {
      try {
        const Tensor y = model.predict_on_batch({inputs(thread, 1 + i % 5)})[0];
        (std::abs(y.data<float>()[0] - want[thread]) < 1e-5 ? right : wrong) += 1;
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::invalid_argument) << e.what();
      }
    }
  };
  std::thread first(work, 0), second(work, 1);
  first.join();
  second.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(right, 0);
}

TEST(Functional, SharesLayersAndTakesSeveralInputs) {
  const Symbol a = Input({4});
  const Symbol b = Input({4});
  const Layer shared = Dense(3);
  const Model model({a, b}, {shared(a), shared(b)});
  EXPECT_EQ(model.count_params(), 15);
  EXPECT_EQ(model.layers().size(), 3u);
}

}  // namespace
}  // namespace plimsoll
