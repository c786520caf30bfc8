// A model that does not fit under the line is made to fit: the same weights bit by bit, and never a byte
// over.
#include <gtest/gtest.h>

#include <cstring>

#include "memory/account.h"
#include "memory/budget.h"
#include "plimsoll/contents.h"
#include "plimsoll/memory.h"
#include "plimsoll/model.h"
#include "plimsoll/planning.h"

namespace plimsoll {
namespace {

struct Case {
  const char* name;
  Model (*make)();
  Shape sample;
  int64_t batch;
};

Model mlp() {
  Sequential m({Input({32})});
  for (int i = 0; i < 8; ++i) m.add(Dense(128, {.activation = "tanh"}));
  m.add(Dropout(0.2));
  m.add(Dense(4));
  return m;
}

Model cnn() {
  Sequential m({Input({16, 16, 3})});
  for (int i = 0; i < 4; ++i) {
    m.add(Conv2D(16, 3, {.padding = "same", .use_bias = false}));
    m.add(BatchNormalization());
    m.add(Activation("relu"));
    m.add(Dropout(0.1));
  }
  m.add(MaxPooling2D(2));
  m.add(Flatten());
  m.add(Dense(4));
  return m;
}

Model lstm() {
  Sequential m({Input({20, 16})});
  for (int i = 0; i < 7; ++i) m.add(LSTM(32, {.return_sequences = true}));
  m.add(LSTM(32));
  m.add(Dense(4));
  return m;
}

Model transformer() {
  const Symbol x = Input({24, 32});
  Symbol h = x;
  for (int i = 0; i < 3; ++i) {
    const Symbol a = LayerNormalization()(h);
    h = Add()({h, MultiHeadAttention(4, 8, {.dropout = 0.1})({a, a})});
    Symbol f = Dense(64, {.activation = "gelu"})(LayerNormalization()(h));
    h = Add()({h, Dense(32)(f)});
  }
  return Model({x}, {Dense(4)(GlobalAveragePooling1D()(h))});
}

Tensor numbers(const Shape& shape, uint32_t seed) {
  std::vector<float> v(static_cast<size_t>(shape.elements()));
  for (float& f : v) f = static_cast<float>((seed = seed * 1664525u + 1013904223u) >> 8) / (1 << 23) - 1.0f;
  return Tensor::from<float>(v, shape);
}

struct Trained {
  std::vector<Tensor> weights;
  int64_t peak = 0, budget_at_begin = 0;
  std::vector<double> loss;
};

Model compiled(const Case& c) {
  set_random_seed(11);
  Model m = c.make();
  m.compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae"}, .threads = 2});
  return m;
}

Trained train(const Case& c, const std::string& memory) {
  Model m = compiled(c);
  Trained t;
  const CallbackPtr look = LambdaCallback({.on_train_batch_end = [&](int64_t, const Logs&) {
    if (Budget::current()) t.peak = Budget::current()->peak();
  }});
  // Two whole batches and a smaller one.
  const int64_t rows = 2 * c.batch + c.batch / 2;
  const Tensor x = numbers(c.sample.inserted(0, rows), 1), y = numbers({rows, 4}, 2);
  const History h = m.fit(x, y,
                          {.batch_size = c.batch,
                           .epochs = 2,
                           .verbose = 0,
                           .callbacks = {look},
                           .seed = 3,
                           .memory = memory,
                           .micro_batch = "never"});
  t.loss = h["loss"];
  t.weights = m.get_weights();
  return t;
}

// What fit() would be refused with is known without it.
TEST(CheckFit, RefusesAsFitDoesAndMakesNothing) {
  const Case c{"mlp", mlp, {32}, 64};
  Model m = compiled(c);
  const Dataset data =
      Dataset::arrays({numbers(c.sample.inserted(0, 96), 1)}, {numbers({96, 4}, 2)}).batch(c.batch);
  const auto numbers_of = [](auto run) -> std::optional<MemoryLineError::Numbers> {
    try {
      run();
      return std::nullopt;
    } catch (const MemoryLineError& e) {
      return e.numbers();
    }
  };
  const FitArgs args{.verbose = 0, .memory = "1MiB"};
  numbers_of([&] { check_fit(m, data, args); });  // kernels of eager operations are kept
  const int64_t before = account::used();
  const auto said = numbers_of([&] { check_fit(m, data, args); });
  ASSERT_TRUE(said);
  EXPECT_EQ(account::used(), before);
  const auto refused = numbers_of([&] { m.fit(data, args); });
  ASSERT_TRUE(refused);
  EXPECT_EQ(said->least, refused->least);
  EXPECT_EQ(said->largest_batch, refused->largest_batch);
  check_fit(m, data, {.verbose = 0, .memory = std::to_string(said->least)});
  EXPECT_LE(account::used(), before);
  m.fit(data, {.verbose = 0, .memory = std::to_string(said->least)});
}

class FitUnderLine : public testing::TestWithParam<Case> {};

TEST_P(FitUnderLine, GivesTheSameWeightsBitByBit) {
  const Case& c = GetParam();
  const Trained want = train(c, "");
  const MemoryForecast f = forecast(compiled(c), c.batch);
  const int64_t rows = 2 * c.batch + c.batch / 2;
  const int64_t data = 4 * rows * (c.sample.elements() + 4) + (1 << 16);
  int fitted = 0;
  for (const int share : {70, 50, 30, 20}) {
    SCOPED_TRACE(share);
    // The Program of the smaller last batch is as large as the other; both grow by what runs again.
    const int64_t line = f.total() - f.arena + f.arena * share / 100 + data + 3 * f.programs;
    Trained got;
    try {
      got = train(c, std::to_string(line));
    } catch (const MemoryLineError& e) {
      EXPECT_GT(e.numbers().least, line);
      EXPECT_LE(share, 30) << e.what();
      continue;
    }
    ++fitted;
    EXPECT_LE(got.peak, line);
    EXPECT_EQ(got.loss, want.loss);
    ASSERT_EQ(got.weights.size(), want.weights.size());
    for (size_t i = 0; i < want.weights.size(); ++i) {
      const auto bytes = static_cast<size_t>(byte_size(want.weights[i].dtype(), want.weights[i].shape()));
      EXPECT_EQ(std::memcmp(read_bytes(want.weights[i]), read_bytes(got.weights[i]), bytes), 0)
          << "weight " << i;
    }
  }
  EXPECT_GE(fitted, 2);
}

INSTANTIATE_TEST_SUITE_P(Models, FitUnderLine,
                         testing::Values(Case{"mlp", mlp, {32}, 1024}, Case{"cnn", cnn, {16, 16, 3}, 48},
                                         Case{"lstm", lstm, {20, 16}, 64},
                                         Case{"transformer", transformer, {24, 32}, 64}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace plimsoll
