// Whole trainings: histories against Keras, and what fit() promises.
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

#include "memory/account.h"
#include "memory/budget.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"
#include "plimsoll/model.h"
#include "plimsoll/ops/shape.h"
#include "support/compare.h"
#include "training/golden.h"

namespace plimsoll {
namespace {

using testing::golden;

constexpr double kHistoryTolerance = 1e-3;

// Gives the model Keras's weights, trains three epochs, and compares histories and weights.
void expect_history(const std::string& key, Model& model, std::vector<Tensor> x, std::vector<Tensor> y,
                    FitArgs args) {
  const std::string prefix = "fit." + key + ".";
  std::vector<Tensor> weights;
  for (int i = 0; testing::has_golden(prefix + "weight" + std::to_string(i)); ++i) {
    weights.push_back(golden(prefix + "weight" + std::to_string(i)));
  }
  model.set_weights(weights);
  args.epochs = 3;
  args.shuffle = false;
  args.verbose = 0;
  const History history = model.fit(std::move(x), std::move(y), args);
  size_t compared = 0;
  for (const auto& [name, values] : history.history) {
    const std::vector<double> want = testing::golden_values(prefix + name);
    ASSERT_EQ(values.size(), want.size()) << key << " " << name;
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_NEAR(values[i], want[i], kHistoryTolerance) << key << " " << name << " " << i;
    ++compared;
  }
  const std::vector<Tensor> trained = model.get_weights();
  EXPECT_EQ(compared + 2 * trained.size(), testing::golden_names(prefix).size());
  for (size_t i = 0; i < trained.size(); ++i) {
    EXPECT_EQ(
        testing::difference(trained[i], golden(prefix + "final" + std::to_string(i)), kHistoryTolerance, 1),
        "")
        << key;
  }
}

TEST(History, OfNumbersIsKeras) {
  Sequential model({Input({6}), Dense(8, {.activation = "tanh"}), Dense(2)});
  model.compile({.optimizer = SGD(0.05, {.momentum = 0.9}), .loss = "mse", .metrics = {"mae"}});
  expect_history("numbers", model, {golden("fit.x")}, {golden("fit.number")},
                 {.batch_size = 16, .validation_split = 0.2});
}

TEST(History, OfLabelsWithClassWeightsIsKeras) {
  Sequential model({Input({6}), Dense(12, {.activation = "relu"}), Dense(3, {.activation = "softmax"})});
  model.compile(
      {.optimizer = Adam(0.01), .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  expect_history("labels", model, {golden("fit.x")}, {golden("fit.label")},
                 {.batch_size = 20, .class_weight = {{0, 2.0}, {2, 0.5}}});
}

TEST(History, OfPicturesIsKeras) {
  Sequential model({Input({8, 8, 2}), Conv2D(4, 3, {.activation = "relu"}), MaxPooling2D(2), Flatten(),
                    Dense(2, {.activation = "softmax"})});
  model.compile({.optimizer = RMSprop(0.005),
                 .loss = CategoricalCrossentropy({.label_smoothing = 0.1}),
                 .metrics = {"accuracy"}});
  expect_history("pictures", model, {golden("fit.images")}, {one_hot(golden("fit.picture"), 2, DType::f32)},
                 {.batch_size = 25});
}

TEST(History, OfBitsWithSampleWeightsIsKeras) {
  Sequential model({Input({6}), Dense(8, {.activation = "relu"}), Dense(1, {.activation = "sigmoid"})});
  model.compile({.optimizer = AdamW(0.01),
                 .loss = "binary_crossentropy",
                 .metrics = {AUC({.name = "auc"}), "accuracy"},
                 .weighted_metrics = {"accuracy"}});
  expect_history("bits", model, {golden("fit.x")}, {golden("fit.bit")},
                 {.batch_size = 32, .sample_weight = {golden("fit.weight")}});
}

TEST(History, OfTwoOutputsIsKeras) {
  const Symbol x = Input({6});
  const Symbol hidden = Dense(8, {.activation = "relu", .kernel_regularizer = "l2"})(x);
  Model model({x}, {Dense(2, {.name = "first"})(hidden),
                    Dense(3, {.activation = "softmax", .name = "second"})(hidden)});
  model.compile({.optimizer = Nadam(0.01),
                 .loss = {"mae", "sparse_categorical_crossentropy"},
                 .loss_weights = {0.5, 2.0},
                 .metrics = {"mse", "accuracy"}});
  expect_history("outputs", model, {golden("fit.x")}, {golden("fit.number"), golden("fit.label")},
                 {.batch_size = 30});
}

TEST(History, OfMaskedSequencesIsKeras) {
  Sequential model({Input({7}, {.dtype = DType::i32}), Embedding(10, 5, {.mask_zero = true}),
                    Dense(4, {.activation = "softmax"})});
  model.compile({.optimizer = SGD(0.5), .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  expect_history("masked", model, {golden("fit.tokens")}, {golden("fit.next")}, {.batch_size = 20});
}

void expect_weights(const Model& model, const std::vector<Tensor>& want) {
  const std::vector<Tensor> got = model.get_weights();
  for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(testing::bit_difference(got[i], want[i]), "");
}

Sequential small_model() {
  Sequential model({Input({6}), Dense(8, {.activation = "relu"}), Dense(2)});
  model.compile({.optimizer = "adam", .loss = "mse"});
  return model;
}

TEST(Fit, StopsEarlyAndRestoresTheBestWeights) {
  Sequential model = small_model();
  int epochs = 0;
  std::vector<Tensor> first;
  const CallbackPtr watch = LambdaCallback({.on_epoch_end = [&](int64_t epoch, Logs& logs) {
    ++epochs;
    if (epoch == 0) first = model.get_weights();
    logs.emplace_back("score", epoch == 0 ? 1.0 : 2.0);
  }});
  model.fit(
      golden("fit.x"), golden("fit.number"),
      {.epochs = 10,
       .verbose = 0,
       .callbacks = {
           watch,
           EarlyStopping({.monitor = "score", .patience = 2, .mode = "min", .restore_best_weights = true})}});
  EXPECT_EQ(epochs, 3);
  expect_weights(model, first);
}

TEST(Fit, ReducesTheLearningRateOnAPlateau) {
  Sequential model = small_model();
  const CallbackPtr flat =
      LambdaCallback({.on_epoch_end = [](int64_t, Logs& logs) { logs.emplace_back("score", 1.0); }});
  const History h = model.fit(
      golden("fit.x"), golden("fit.number"),
      {.epochs = 5,
       .verbose = 0,
       .callbacks = {flat,
                     ReduceLROnPlateau({.monitor = "score", .factor = 0.5, .patience = 2, .mode = "min"})}});
  EXPECT_NEAR(h["learning_rate"].front(), 1e-3, 1e-9);
  EXPECT_NEAR(model.learning_rate(), 2.5e-4, 1e-9);
}

TEST(Fit, SchedulesTheRateAndLogsToCsv) {
  const std::string path = ::testing::TempDir() + "log.csv";
  Sequential model = small_model();
  model.fit(
      golden("fit.x"), golden("fit.number"),
      {.epochs = 2,
       .verbose = 0,
       .callbacks = {LearningRateScheduler([](int64_t epoch, double) { return epoch == 0 ? 0.5 : 0.25; }),
                     CSVLogger(path)}});
  EXPECT_NEAR(model.learning_rate(), 0.25, 1e-9);
  std::ifstream file(path);
  std::string header, row;
  std::getline(file, header);
  EXPECT_EQ(header, "epoch,learning_rate,loss,val_learning_rate,val_loss\r");
  std::getline(file, row);
  EXPECT_TRUE(row.starts_with("0,0.5,")) << row;
}

TEST(Fit, EndsBetweenStepsOnCtrlC) {
  struct sigaction before, after;
  sigaction(SIGINT, nullptr, &before);
  Sequential model = small_model();
  int steps = 0;
  const CallbackPtr press = LambdaCallback({.on_train_batch_end = [&](int64_t, const Logs&) {
    if (++steps == 2) raise(SIGINT);
  }});
  const History h = model.fit(golden("fit.x"), golden("fit.number"),
                              {.batch_size = 10, .epochs = 3, .verbose = 0, .callbacks = {press}});
  EXPECT_TRUE(h.interrupted);
  EXPECT_EQ(steps, 2);
  sigaction(SIGINT, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
  EXPECT_FALSE(model.fit(golden("fit.x"), golden("fit.number"), {.verbose = 0}).interrupted);
}

TEST(Fit, ContinuesInTheDataWithStepsPerEpoch) {
  Sequential model = small_model();
  std::vector<int64_t> batches;
  const CallbackPtr count =
      LambdaCallback({.on_train_batch_end = [&](int64_t batch, const Logs&) { batches.push_back(batch); }});
  model.fit(golden("fit.x"), golden("fit.number"),
            {.batch_size = 30, .epochs = 3, .verbose = 0, .callbacks = {count}, .steps_per_epoch = 2});
  // Three batches: two, the one left, two again.
  EXPECT_EQ(batches, (std::vector<int64_t>{0, 1, 0, 0, 1}));
}

TEST(Fit, TrainsInMixedPrecision) {
  set_dtype_policy("mixed_bfloat16");
  set_random_seed(1);
  Sequential model = small_model();
  model.set_learning_rate(0.02);
  const History h = model.fit(golden("fit.x"), golden("fit.number"), {.epochs = 20, .verbose = 0});
  set_dtype_policy("float32");
  EXPECT_EQ(model.get_weights()[0].dtype(), DType::f32);
  EXPECT_LT(h["loss"].back(), 0.7 * h["loss"].front());
}

TEST(Memory, FitRefusesBeforeTheFirstBatchWhatWouldCrossTheLine) {
  Sequential model(
      {Input({6}), Dense(512, {.activation = "relu"}), Dense(512, {.activation = "relu"}), Dense(2)});
  model.compile({.optimizer = "adam", .loss = "mse"});
  const std::vector<Tensor> before = model.get_weights();
  const Tensor x = Tensor::zeros(DType::f32, {4096, 6});
  const Tensor y = Tensor::zeros(DType::f32, {4096, 2});
  const std::string line = "12MiB";
  try {
    model.fit(x, y, {.batch_size = 4096, .verbose = 0, .memory = line, .micro_batch = "never"});
    FAIL() << "fit() went over the line";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::out_of_memory);
    EXPECT_NE(std::string(e.what()).find("largest batch that fits is "), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("heaviest layers: "), std::string::npos) << e.what();
    const std::string text = e.what();
    const int64_t fits = std::stoll(text.substr(text.find("fits is ") + 8));
    EXPECT_GT(fits, 0);
    EXPECT_LT(fits, 4096);
    expect_weights(model, before);
    int64_t peak = 0;
    const CallbackPtr look =
        LambdaCallback({.on_train_end = [&](const Logs&) { peak = Budget::current()->peak(); }});
    model.fit(
        x, y,
        {.batch_size = fits, .verbose = 0, .callbacks = {look}, .memory = line, .micro_batch = "never"});
    EXPECT_LE(peak, 12 << 20);
    EXPECT_GT(peak, 10 << 20);
  }
  EXPECT_EQ(account::limit(), account::kNoLimit);
}

TEST(Memory, ForecastGrowsWithTheBatchAndNamesLayers) {
  Sequential model({Input({6}), Dense(256, {.activation = "relu", .name = "wide"}), Dense(2)});
  model.compile({.optimizer = "adam", .loss = "mse"});
  const MemoryForecast small = forecast(model, 8);
  const MemoryForecast large = forecast(model, 8192);
  EXPECT_GE(small.weights, 4 * model.count_params());
  EXPECT_LE(small.weights, 6 * model.count_params());
  EXPECT_GE(small.state, 8 * model.count_params());
  EXPECT_GT(large.arena, 8192 * 256 * 4);
  // The result of the wide layer and the gradient that the next one makes of it are of one size.
  ASSERT_GE(large.layers.size(), 2u);
  EXPECT_TRUE(large.layers[0].first == "wide" || large.layers[1].first == "wide");
  EXPECT_GE(large.layers[1].second, 8192 * 256 * 4);
}

TEST(Memory, AForecastChangesNothing) {
  Sequential model({Input({6}), Dense(256, {.activation = "relu"}), Dropout(0.5), Dense(2)});
  model.compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae"}});
  forecast(model, 64);  // kernels of eager ops that it uses are then there
  const int64_t before = account::used();
  account::reset_peak();
  const MemoryForecast fresh = forecast(model, 64);
  EXPECT_EQ(account::used(), before);
  // The state of the optimizer is planned, not made.
  EXPECT_LT(account::peak(), before + fresh.state);
  const Tensor x = Tensor::zeros(DType::f32, {64, 6});
  const Tensor y = Tensor::zeros(DType::f32, {64, 2});
  model.fit(x, y, {.batch_size = 64, .verbose = 0});
  EXPECT_EQ(forecast(model, 64).total(), fresh.total());
}

}  // namespace
}  // namespace plimsoll
