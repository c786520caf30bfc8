// The callback protocol against Keras, call by call, and what its callbacks do (tests/golden/callbacks.py).
#include "plimsoll/callbacks.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "plimsoll/error.h"
#include "plimsoll/model.h"
#include "support/compare.h"

namespace plimsoll {
namespace {

using Json = nlohmann::json;

constexpr double kTolerance = 1e-5;  // float32 sums in another order, over a few steps

const Json& goldens() {
  static const Json json = Json::parse(std::ifstream(PLIMSOLL_GOLDEN_FOLDER "/callbacks.json"));
  return json;
}

Tensor tensor_of(const Json& rows) {
  std::vector<float> values;
  for (const Json& row : rows) {
    for (const Json& value : row) values.push_back(value.get<float>());
  }
  return Tensor::from<float>(values, Shape{std::ssize(rows), std::ssize(values) / std::ssize(rows)});
}

Sequential golden_model() {
  Sequential model({Input({3}), Dense(4, {.activation = "tanh"}), Dense(1)});
  std::vector<Tensor> weights;
  for (const Json& w : goldens()["weights"]) {
    const auto values = w["values"].get<std::vector<float>>();
    const auto shape = w["shape"].get<std::vector<int64_t>>();
    weights.push_back(Tensor::from<float>(values, Shape(shape)));
  }
  model.set_weights(weights);
  model.compile({.optimizer = SGD(0.05), .loss = "mse", .metrics = {"mae"}});
  return model;
}

// Writes down every call as the golden has it, and asks the model to stop at one of them.
class Recorder final : public Callback {
 public:
  Recorder(std::string name, Json& events, Json stop_at = nullptr, std::string flag = "")
      : name_(std::move(name)), events_(events), stop_at_(std::move(stop_at)), flag_(std::move(flag)) {}
  void on_train_begin() override { note("train_begin", nullptr, {}, true); }
  void on_train_end(const Logs& logs) override { note("train_end", nullptr, logs); }
  void on_epoch_begin(int64_t epoch) override { note("epoch_begin", epoch); }
  void on_epoch_end(int64_t epoch, Logs& logs) override { note("epoch_end", epoch, logs); }
  void on_train_batch_begin(int64_t batch) override { note("train_batch_begin", batch); }
  void on_train_batch_end(int64_t batch, const Logs& logs) override { note("train_batch_end", batch, logs); }
  void on_test_begin() override { note("test_begin", nullptr, {}, true); }
  void on_test_end(const Logs& logs) override { note("test_end", nullptr, logs); }
  void on_test_batch_begin(int64_t batch) override { note("test_batch_begin", batch); }
  void on_test_batch_end(int64_t batch, const Logs& logs) override { note("test_batch_end", batch, logs); }
  void on_predict_begin() override { note("predict_begin", nullptr, {}, true); }
  void on_predict_end() override { note("predict_end", nullptr); }
  void on_predict_batch_begin(int64_t batch) override { note("predict_batch_begin", batch); }
  void on_predict_batch_end(int64_t batch, const std::vector<Tensor>& outputs) override {
    note("predict_batch_end", batch);
    const float* values = outputs.at(0).data<float>();
    events_.back()["outputs"] = std::vector<float>(values, values + outputs[0].shape().elements());
  }

 private:
  void note(const std::string& hook, const Json& index, const Logs& logs = {}, bool params = false) {
    Json event = {{"who", name_}, {"hook", hook}, {"index", index}, {"logs", Json::array()}};
    for (const auto& [name, value] : logs) event["logs"].push_back(Json::array({name, value}));
    if (params)
      event["params"] = {{"epochs", info().epochs}, {"steps", info().steps}, {"verbose", info().verbose}};
    events_.push_back(std::move(event));
    if (stop_at_ != Json::array({hook, index})) return;
    if (flag_ == "stop_training") model().stop_training();
    if (flag_ == "stop_evaluating") model().stop_evaluating();
    if (flag_ == "stop_predicting") model().stop_predicting();
  }
  std::string name_;
  Json& events_;
  Json stop_at_;
  std::string flag_;
};

void expect_near(const Json& got, const Json& want, const std::string& where) {
  if (want.is_number_float()) {
    EXPECT_NEAR(got.get<double>(), want.get<double>(), kTolerance) << where;
  } else if (want.is_structured()) {
    ASSERT_EQ(got.size(), want.size()) << where << " " << got << " " << want;
    for (const auto& [key, value] : want.items()) {
      ASSERT_TRUE(want.is_array() || got.contains(key)) << where << " " << key;
      expect_near(want.is_array() ? got[static_cast<size_t>(std::stoul(key))] : got[key], value, where);
    }
  } else {
    EXPECT_EQ(got, want) << where;
  }
}

// The logs of on_epoch_end are those of Keras in another order: it puts the validation's behind the others.
Json sorted_logs(Json event) {
  std::sort(event["logs"].begin(), event["logs"].end());
  return event;
}

int64_t run_case(const Json& c, const std::vector<CallbackPtr>& callbacks) {
  Sequential model = golden_model();
  const Tensor x = tensor_of(goldens()["x"]), y = tensor_of(goldens()["y"]);
  const Json& a = c["arguments"];
  const auto number = [&](const char* name, int64_t otherwise) { return a.value(name, otherwise); };
  if (c["function"] == "fit") {
    FitArgs args{.batch_size = number("batch_size", 32), .epochs = number("epochs", 1), .verbose = 0};
    args.callbacks = callbacks;
    args.validation_split = a.value("validation_split", 0.0);
    args.shuffle = false;
    args.initial_epoch = number("initial_epoch", 0);
    args.validation_steps = number("validation_steps", 0);
    args.validation_batch_size = number("validation_batch_size", 0);
    args.validation_freq = number("validation_freq", 1);
    model.fit(x, y, args);
  } else if (c["function"] == "evaluate") {
    model.evaluate(
        x, y, {.batch_size = number("batch_size", 32), .steps = number("steps", 0), .callbacks = callbacks});
  } else {
    return model
        .predict(
            x, {.batch_size = number("batch_size", 32), .steps = number("steps", 0), .callbacks = callbacks})
        .dim(0);
  }
  return 0;
}

TEST(Callbacks, AreCalledAsKerasCallsThem) {
  for (const Json& c : goldens()["cases"]) {
    const std::string name = c["name"];
    Json events = Json::array();
    const std::string flag = c["flag"].is_null() ? "" : c["flag"].get<std::string>();
    const int64_t rows = run_case(c, {std::make_shared<Recorder>("a", events, c["stop_at"], flag),
                                      std::make_shared<Recorder>("b", events)});
    EXPECT_EQ(rows, c["rows"].is_null() ? 0 : c["rows"].get<int64_t>()) << name;
    const Json& want = c["events"];
    for (size_t i = 0; i < std::min(events.size(), want.size()); ++i) {
      expect_near(sorted_logs(events[i]), sorted_logs(want[i]), name + " event " + std::to_string(i));
      if (HasFailure()) return;
    }
    EXPECT_EQ(events.size(), want.size()) << name;
  }
}

// ---- what the callbacks of Keras do, fed with the same numbers

double number(const Json& c, const char* name, double otherwise) {
  return c["arguments"].value(name, otherwise);
}
int64_t whole(const Json& c, const char* name, int64_t otherwise) {
  return c["arguments"].value(name, otherwise);
}

CallbackPtr early_stopping(const Json& c) {
  EarlyStoppingOptions o{.monitor = "score", .min_delta = number(c, "min_delta", 0), .mode = "min"};
  o.patience = whole(c, "patience", 0);
  o.start_from_epoch = whole(c, "start_from_epoch", 0);
  o.mode = c["arguments"].value("mode", "min");
  o.restore_best_weights = c["arguments"].value("restore_best_weights", false);
  if (c["arguments"].contains("baseline")) o.baseline = number(c, "baseline", 0);
  return EarlyStopping(o);
}

CallbackPtr on_plateau(const Json& c) {
  ReduceLROnPlateauOptions o{.monitor = "score"};
  o.factor = number(c, "factor", o.factor);
  o.patience = whole(c, "patience", o.patience);
  o.mode = c["arguments"].value("mode", "min");
  o.min_delta = number(c, "min_delta", o.min_delta);
  o.cooldown = whole(c, "cooldown", o.cooldown);
  o.min_lr = number(c, "min_lr", o.min_lr);
  return ReduceLROnPlateau(o);
}

CallbackPtr callback_of(const Json& c, const std::string& file) {
  const std::string kind = c["callback"];
  if (kind == "EarlyStopping") return early_stopping(c);
  if (kind == "ReduceLROnPlateau") return on_plateau(c);
  if (kind == "LearningRateScheduler")
    return LearningRateScheduler([](int64_t epoch, double) {
      return goldens()["effects"]["rates"][static_cast<size_t>(epoch)].get<double>();
    });
  if (kind == "SwapEMAWeights")
    return SwapEMAWeights({.swap_on_epoch = c["arguments"].value("swap_on_epoch", false)});
  if (kind == "TerminateOnNaN") return TerminateOnNaN();
  if (kind == "CSVLogger") return CSVLogger(file, {.separator = c["arguments"]["separator"]});
  throw std::runtime_error("no callback " + kind);
}

Optimizer optimizer_of(const Json& c) {
  if (c["callback"] == "SwapEMAWeights") return SGD(0.05, {.use_ema = true, .ema_momentum = 0.8});
  return SGD(c["callback"] == "TerminateOnNaN" ? 1e20 : 0.05);
}

// Numbers with a separator between them; the same text but for roundings.
void expect_same_table(const std::string& got, const std::string& want, const std::string& name) {
  std::istringstream ours(got), theirs(want);
  std::string a, b;
  while (std::getline(theirs, b)) {
    ASSERT_TRUE(std::getline(ours, a)) << name;
    std::istringstream cells(a), wanted(b);
    std::string cell, value;
    while (std::getline(wanted, value, ';')) {
      ASSERT_TRUE(std::getline(cells, cell, ';')) << name << ": " << a;
      char* end = nullptr;
      const double number = std::strtod(value.c_str(), &end);
      if (end == value.c_str()) {
        EXPECT_EQ(cell, value) << name;
      } else {
        EXPECT_NEAR(std::strtod(cell.c_str(), nullptr), number, kTolerance) << name << ": " << a;
      }
    }
    EXPECT_FALSE(std::getline(cells, cell, ';')) << name << ": " << a;
  }
  EXPECT_FALSE(std::getline(ours, a)) << name << ": " << a;
}

TEST(Callbacks, DoWhatThoseOfKerasDo) {
  const Json& effects = goldens()["effects"];
  const Tensor x = tensor_of(goldens()["x"]), y = tensor_of(goldens()["y"]);
  for (const Json& c : effects["cases"]) {
    const std::string name = c["name"], file = ::testing::TempDir() + "effects.csv";
    SCOPED_TRACE(name);
    Sequential model = golden_model();
    model.compile({.optimizer = optimizer_of(c), .loss = "mse", .metrics = {"mae"}});
    std::vector<double> rates;
    const CallbackPtr script = LambdaCallback({.on_epoch_end = [&](int64_t epoch, Logs& logs) {
      logs.emplace_back("score", effects["score"][static_cast<size_t>(epoch)].get<double>());
    }});
    const CallbackPtr watch =
        LambdaCallback({.on_epoch_end = [&](int64_t, Logs&) { rates.push_back(model.learning_rate()); }});
    const History h = model.fit(x, y,
                                {.batch_size = 16,
                                 .epochs = c["epochs"].get<int64_t>(),
                                 .verbose = 0,
                                 .callbacks = {script, callback_of(c, file), watch},
                                 .validation_split = 0.25,
                                 .shuffle = false});
    ASSERT_EQ(rates.size(), c["rates"].size()) << "how many epochs there were";
    for (size_t i = 0; i < rates.size(); ++i)
      EXPECT_NEAR(rates[i], c["rates"][i].get<double>(), 1e-6 * rates[i]) << "after epoch " << i;
    for (const auto& [key, want] : c["history"].items()) {
      for (size_t i = 0; i < want.size(); ++i)
        EXPECT_NEAR(h[key].at(i), want[i].get<double>(), 1e-5) << key << i;
    }
    const std::vector<Tensor> weights = model.get_weights();
    for (size_t w = 0; w < c["weights"].size(); ++w) {
      const auto want = c["weights"][w].get<std::vector<float>>();
      EXPECT_EQ(testing::difference(weights[w], Tensor::from<float>(want, weights[w].shape()), 1e-5), "");
    }
    if (c["callback"] == "CSVLogger") {
      std::ifstream in(file);
      std::stringstream text;
      text << in.rdbuf();
      expect_same_table(text.str(), c["file"], name);
    }
  }
}

}  // namespace
}  // namespace plimsoll
