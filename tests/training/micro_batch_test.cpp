// Batches cut into ranges of rows train like whole ones: 24 steps over three batches, weights equal to 1e-6
// in the norm (of the difference, over all weights, relative to that of the weights), losses and metrics to
// 1e-5.
#include <gtest/gtest.h>

#include <cmath>

#include "plimsoll/contents.h"
#include "plimsoll/log.h"
#include "plimsoll/memory.h"
#include "plimsoll/model.h"
#include "train/model_body.h"

namespace plimsoll {
namespace {

constexpr double kWeights = 1e-6, kLogs = 1e-5;
constexpr int kBatches = 3, kSteps = 24;

struct Data {
  std::vector<Tensor> x, y, weights = {};
};

struct Case {
  const char* name;
  Model (*make)();
  Data (*data)(int64_t rows, uint32_t seed);
  int64_t batch, parts;
  double weights = kWeights;
};

uint32_t next(uint32_t& seed) { return (seed = seed * 1664525u + 1013904223u) >> 8; }

Tensor numbers(const Shape& shape, uint32_t seed) {
  std::vector<float> v(static_cast<size_t>(shape.elements()));
  for (float& f : v) f = static_cast<float>(next(seed)) / (1 << 23) - 1.0f;
  return Tensor::from<float>(v, shape);
}

Tensor words(const Shape& shape, uint32_t seed, uint32_t below) {
  std::vector<int32_t> v(static_cast<size_t>(shape.elements()));
  for (int32_t& i : v) i = static_cast<int32_t>(next(seed) % below);
  return Tensor::from<int32_t>(v, shape);
}

// Sentences of different length: zeros behind the words.
Tensor sentences(int64_t rows, int64_t length, uint32_t seed, uint32_t below) {
  std::vector<int32_t> v(static_cast<size_t>(rows * length), 0);
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t used = 1 + next(seed) % static_cast<uint32_t>(length);
    for (int64_t t = 0; t < used; ++t)
      v[static_cast<size_t>(r * length + t)] = 1 + static_cast<int32_t>(next(seed) % (below - 1));
  }
  return Tensor::from<int32_t>(v, {rows, length});
}

template <class... Sizes>
Data floats(int64_t rows, uint32_t seed, int64_t outputs, Sizes... sizes) {
  return {{numbers({rows, sizes...}, seed)}, {numbers({rows, outputs}, seed + 1)}};
}

Model mlp() {
  Sequential m({Input({20}), Dense(32, {.activation = "tanh"}), Dropout(0.3),
                Dense(16, {.activation = "gelu"}), Dense(3)});
  m.compile({.optimizer = SGD(0.05, {.momentum = 0.9}), .loss = "mse", .metrics = {"mae"}, .threads = 2});
  return m;
}
Data mlp_data(int64_t rows, uint32_t seed) { return floats(rows, seed, 3, 20); }

Model adam() {
  Sequential m({Input({20}), Dense(32, {.activation = "tanh"}), Dense(3)});
  m.compile({.optimizer = Adam(1e-3, {.global_clipnorm = 0.5}), .loss = "mse", .threads = 2});
  return m;
}

Model cnn() {
  Sequential m({Input({12, 12, 2}), Conv2D(8, 3, {.padding = "same", .activation = "relu"}), MaxPooling2D(2),
                Conv2D(8, 3, {.activation = "relu"}), AveragePooling2D(2), Flatten(), Dense(3)});
  m.compile({.optimizer = SGD(0.05), .loss = "mse", .metrics = {"mae"}, .threads = 2});
  return m;
}
Data cnn_data(int64_t rows, uint32_t seed) { return floats(rows, seed, 3, 12, 12, 2); }

Model cnn_norm() {
  Sequential m({Input({12, 12, 2}), Conv2D(8, 3, {.use_bias = false}), BatchNormalization(),
                Activation("relu"), Dropout(0.2), MaxPooling2D(2), Conv2D(8, 3, {.use_bias = false}),
                BatchNormalization(), Activation("relu"), GlobalAveragePooling2D(), Dense(3)});
  m.compile({.optimizer = SGD(0.05), .loss = "mse", .threads = 2});
  return m;
}

Model lstm() {
  Sequential m({Input({9, 6}), LSTM(12, {.return_sequences = true}), GRU(8), Dense(3)});
  m.compile({.optimizer = SGD(0.05, {.clipnorm = 1.0}), .loss = "mse", .threads = 2});
  return m;
}
Data lstm_data(int64_t rows, uint32_t seed) { return floats(rows, seed, 3, 9, 6); }

// Words with a mask, through attention and a recurrent layer, to a class per word; every sample has a weight.
Model transformer() {
  const Symbol x = Input({7}, {.dtype = DType::i32});
  const Symbol e = Embedding(30, 16, {.mask_zero = true})(x);
  const Symbol a = MultiHeadAttention(2, 8, {.dropout = 0.1})({e, e});
  const Symbol h = LayerNormalization()(Add()({e, a}));
  Model m({x}, {Dense(5)(Bidirectional(LSTM(6, {.return_sequences = true}))(h))});
  m.compile({.optimizer = SGD(0.1),
             .loss = SparseCategoricalCrossentropy({.from_logits = true}),
             .metrics = {"sparse_categorical_accuracy"},
             .weighted_metrics = {"sparse_categorical_accuracy"},
             .threads = 2});
  return m;
}
Data transformer_data(int64_t rows, uint32_t seed) {
  Tensor w = numbers({rows, 7}, seed + 2);
  std::vector<float> positive(static_cast<size_t>(7 * rows));
  for (size_t i = 0; i < positive.size(); ++i) positive[i] = 1.5f + w.data<float>()[i];
  return {{sentences(rows, 7, seed, 30)},
          {words({rows, 7}, seed + 1, 5)},
          {Tensor::from<float>(positive, {rows, 7})}};
}

// Two inputs through one layer, two outputs with losses of their own, a regularizer.
Model twins() {
  const Symbol a = Input({8}), b = Input({8});
  const Layer shared = Dense(12, {.activation = "relu", .kernel_regularizer = L2(1e-3)});
  const Symbol left = shared(a), right = shared(b);
  const Symbol both = Concatenate()({left, Multiply()({left, right})});
  Model m({a, b}, {Dense(2)(both), Dense(1, {.activation = "sigmoid"})(right)});
  m.compile({.optimizer = SGD(0.05),
             .loss = {"mse", "binary_crossentropy"},
             .loss_weights = {1.0, 0.5},
             .metrics = {"mae", "binary_accuracy"},
             .threads = 2});
  return m;
}
Data twins_data(int64_t rows, uint32_t seed) {
  Data d{{numbers({rows, 8}, seed), numbers({rows, 8}, seed + 1)}, {numbers({rows, 2}, seed + 2)}};
  const Tensor raw = words({rows, 1}, seed + 3, 2);
  std::vector<float> labels(static_cast<size_t>(rows));
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<float>(raw.data<int32_t>()[i]);
  d.y.push_back(Tensor::from<float>(labels, {rows, 1}));
  return d;
}

struct Trained {
  std::vector<Tensor> weights;
  std::vector<Logs> logs;
};

Trained train(const Case& c, int64_t parts) {
  set_random_seed(11);
  Model m = c.make();
  m.body().trainer.set_parts(parts);
  Trained t;
  const Data first = c.data(c.batch, 1);
  const BatchTypes types = BatchTypes::of(Batch{first.x, first.y, first.weights});
  const StepChoices step = m.body().trainer.choices(StepKind::train, types, false);
  EXPECT_EQ(forced_parts(*step.choices->graph(), step.options).parts, std::max<int64_t>(parts, 1));
  for (int step = 0; step < kSteps; ++step) {
    const Data d = c.data(c.batch, 100u * static_cast<uint32_t>(step % kBatches + 1));
    t.logs.push_back(m.train_on_batch(d.x, d.y, d.weights));
  }
  const Data d = c.data(c.batch, 7);
  t.logs.push_back(m.test_on_batch(d.x, d.y, d.weights));
  t.weights = m.get_weights();
  t.weights.push_back(m.predict_on_batch(d.x)[0]);
  return t;
}

// Of the difference, relative to that of `want`.
double distance(const std::vector<Tensor>& got, const std::vector<Tensor>& want) {
  double apart = 0, all = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    for (int64_t k = 0; k < want[i].shape().elements(); ++k) {
      if (want[i].dtype() != DType::f32) continue;
      const double a = got[i].data<float>()[k], b = want[i].data<float>()[k];
      apart += (a - b) * (a - b);
      all += b * b;
    }
  }
  return std::sqrt(apart / all);
}

class MicroBatch : public testing::TestWithParam<Case> {};

TEST_P(MicroBatch, TrainsLikeTheWholeBatch) {
  const Case& c = GetParam();
  const Trained want = train(c, 0), got = train(c, c.parts);
  ASSERT_EQ(got.weights.size(), want.weights.size());
  const double apart = distance(got.weights, want.weights);
  RecordProperty("distance", std::to_string(apart));
  std::printf("[ DISTANCE ] %s in %d parts: %.2g\n", c.name, static_cast<int>(c.parts), apart);
  EXPECT_LE(apart, c.weights);
  EXPECT_TRUE(std::isfinite(apart));
  for (size_t step = 0; step < want.logs.size(); ++step) {
    ASSERT_EQ(got.logs[step].size(), want.logs[step].size());
    for (size_t i = 0; i < want.logs[step].size(); ++i) {  // names have the numbers of the layers
      const auto& [name, value] = want.logs[step][i];
      EXPECT_NEAR(got.logs[step][i].second, value, kLogs * std::max(1.0, std::abs(value)))
          << name << ", step " << step;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, MicroBatch,
    testing::Values(Case{"mlp", mlp, mlp_data, 32, 2}, Case{"mlp_ragged", mlp, mlp_data, 13, 4},
                    Case{"mlp_row_by_row", mlp, mlp_data, 5, 5},
                    Case{"adam_global_clipnorm", adam, mlp_data, 24, 4, 1e-5},
                    Case{"cnn", cnn, cnn_data, 12, 4}, Case{"cnn_ragged", cnn, cnn_data, 13, 4},
                    Case{"cnn_norm", cnn_norm, cnn_data, 16, 4},
                    Case{"cnn_norm_ragged", cnn_norm, cnn_data, 13, 4}, Case{"lstm", lstm, lstm_data, 13, 4},
                    Case{"transformer", transformer, transformer_data, 13, 4},
                    Case{"twins", twins, twins_data, 13, 3}),
    [](const auto& info) { return std::string(info.param.name); });

// One convolution needs most of the arena: recompute has nothing to drop.
Model shallow() {
  Sequential m(
      {Input({32, 32, 3}), Conv2D(16, 3, {.activation = "relu"}), MaxPooling2D(2), Flatten(), Dense(3)});
  m.compile({.optimizer = SGD(0.01), .loss = "mse", .threads = 2});
  return m;
}

int64_t line_at(const MemoryForecast& f, int share) {
  return f.total() - f.arena + f.arena * share / 100 + (1 << 20);
}

TEST(MicroBatchLine, AShallowModelFitsWhereItDidNot) {
  const Model m = shallow();
  const MemoryForecast all = forecast(m, 64);
  EXPECT_EQ(all.parts, 1);
  const std::string line = std::to_string(line_at(all, 30));
  const MemoryForecast never = forecast(m, 64, line, "never"), may = forecast(m, 64, line, "auto");
  EXPECT_FALSE(never.fits);
  EXPECT_EQ(never.parts, 1);
  EXPECT_TRUE(may.fits);
  EXPECT_GT(may.parts, 1);
  EXPECT_LE(may.total(), may.line);
  EXPECT_LT(may.least, never.least);
  EXPECT_TRUE(forecast(m, 64, std::to_string(may.least), "auto").fits);
  EXPECT_FALSE(forecast(m, 64, std::to_string(may.least * 95 / 100), "auto").fits);
  EXPECT_GT(may.largest_batch, never.largest_batch);
  EXPECT_THROW(forecast(m, 64, line, "always"), Error);
}

// A lower line has no higher peak; among lines under which the batch is cut, a higher one takes no more time.
TEST(MicroBatchLine, IsMonotone) {
  const Model m = shallow();
  const MemoryForecast all = forecast(m, 64);
  int64_t peak = all.total(), parts = 1;
  double extra = 0;
  int cut = 0;
  for (const int share : {90, 70, 50, 35, 25, 18, 12}) {
    SCOPED_TRACE(share);
    const MemoryForecast f = forecast(m, 64, std::to_string(line_at(all, share)), "auto");
    if (!f.fits) break;
    EXPECT_LE(f.total(), f.line);
    EXPECT_LE(f.total(), peak);
    EXPECT_GE(f.parts, parts);
    if (parts > 1) {
      EXPECT_GE(f.extra_seconds, extra);
    }
    peak = f.total();
    parts = f.parts;
    extra = f.extra_seconds;
    cut += f.parts > 1;
  }
  EXPECT_GE(cut, 3);
}

std::vector<std::string> logged;

TEST(MicroBatchLine, FitStaysUnderItAndSaysThatTheBatchIsCut) {
  const Model plan = shallow();
  // Two whole batches and a smaller one.
  const Tensor x = numbers({160, 32, 32, 3}, 1), y = numbers({160, 3}, 2);
  const MemoryForecast all = forecast(plan, 64);
  const int64_t data = 4 * (x.shape().elements() + y.shape().elements()) + (1 << 16);
  const std::string line = std::to_string(line_at(all, 30) + data + 4 * all.programs);
  const auto fit = [&](const FitArgs& args) {
    set_random_seed(5);
    Model m = shallow();
    logged.clear();
    set_log_sink([](LogLevel, std::string_view, std::string_view message) { logged.emplace_back(message); });
    try {
      m.fit(x, y, args);
    } catch (const MemoryLineError& e) {
      logged.emplace_back(e.what());
    }
    set_log_sink({});
    return m.get_weights();
  };
  const FitArgs free{.batch_size = 64, .epochs = 3, .verbose = 0, .seed = 3};
  const std::vector<Tensor> want = fit(free);
  EXPECT_TRUE(logged.empty()) << logged[0];
  FitArgs under = free;
  under.memory = line;
  under.micro_batch = "auto";
  const std::vector<Tensor> got = fit(under);
  ASSERT_FALSE(logged.empty());
  EXPECT_NE(logged[0].find("parts"), std::string::npos) << logged[0];
  EXPECT_NE(logged[0].find("not bit by bit"), std::string::npos) << logged[0];
  const size_t runs = logged[0].find("runs in ");
  ASSERT_NE(runs, std::string::npos) << logged[0];
  const int parts = std::stoi(logged[0].substr(runs + 8));
  EXPECT_LE(distance(got, want), kWeights);
  under.micro_batch = "never";
  fit(under);
  ASSERT_EQ(logged.size(), 1u);
  EXPECT_NE(logged[0].find("the least line that would do"), std::string::npos) << logged[0];
  // A refusal says what consent would bring, and that is so.
  EXPECT_NE(logged[0].find(concat("with micro_batch \"auto\" it fits in ", parts, " parts")),
            std::string::npos)
      << logged[0];
}

}  // namespace
}  // namespace plimsoll
