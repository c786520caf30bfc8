// What forecast() says beside what the account is then charged, owner by owner, to the byte.
#include <gtest/gtest.h>

#include <map>

#include "memory/account.h"
#include "memory/host.h"
#include "plimsoll/model.h"

namespace plimsoll::testing {
namespace {

constexpr int64_t kBatch = 16;

struct Case {
  const char* name;
  Model (*make)();
  Shape sample;
};

Model mlp() { return Sequential({Input({10}), Dense(64, {.activation = "relu"}), Dropout(0.3), Dense(3)}); }
Model cnn() {
  return Sequential({Input({20, 20, 3}), Conv2D(16, 3, {.activation = "relu"}), BatchNormalization(),
                     MaxPooling2D(2), Conv2D(24, 5, {.activation = "relu"}), Flatten(), Dense(3)});
}
Model rnn() { return Sequential({Input({12, 8}), LSTM(16), Dense(3)}); }

class Forecast : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Models, Forecast,
                         ::testing::Values(Case{"Mlp", mlp, {10}}, Case{"Cnn", cnn, {20, 20, 3}},
                                           Case{"Rnn", rnn, {12, 8}}),
                         [](const auto& info) { return std::string(info.param.name); });

using Held = std::map<Owner, int64_t>;
Held held() {
  Held all;
  for (const Owner o : {Owner::weights, Owner::state, Owner::arena, Owner::programs})
    all[o] = account::used(o);
  return all;
}

TEST_P(Forecast, IsWhatTheAccountIsThenCharged) {
  const Tensor x = Tensor::full(DType::f32, GetParam().sample.inserted(0, kBatch), 0.5);
  const Tensor y = Tensor::zeros(DType::i32, {kBatch});
  {
    Model other = GetParam().make();  // kernels that are made once in a process
    other.compile({.optimizer = "adam", .loss = SparseCategoricalCrossentropy({.from_logits = true})});
    other.fit(x, y, {.batch_size = kBatch, .verbose = 0});
  }
  Held before = held();
  Model model = GetParam().make();
  model.compile({.optimizer = "adam",
                 .loss = SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"}});
  const MemoryForecast f = forecast(model, kBatch);
  model.fit(x, y, {.batch_size = kBatch, .verbose = 0, .shuffle = false});
  Held now = held();
  for (auto& [owner, bytes] : now) bytes -= before[owner];
  EXPECT_EQ(now[Owner::weights], f.weights);
  EXPECT_EQ(now[Owner::state], f.state);
  EXPECT_EQ(now[Owner::arena], host::round_up(f.arena, host::page_size()));
  EXPECT_EQ(now[Owner::programs], f.programs);
}

}  // namespace
}  // namespace plimsoll::testing
