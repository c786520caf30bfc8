// The optimizer's variables in .h5 files of all ages. All weights of the model have one shape, so that an
// order which is wrong would be taken without complaint.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "keras_io/h5_writer.h"
#include "keras_io/legacy_weights.h"
#include "plimsoll/contents.h"
#include "plimsoll/error.h"
#include "plimsoll/layers.h"
#include "plimsoll/log.h"
#include "plimsoll/model.h"
#include "train/model_body.h"

namespace plimsoll::keras_io {
namespace {

class OldOptimizer : public ::testing::Test {
 protected:
  void SetUp() override {
    file_ = concat(::testing::TempDir(), "old_optimizer_", ::getpid(), ".h5");
    set_log_sink([this](LogLevel, std::string_view, std::string_view message) { said_ += message; });
  }
  void TearDown() override {
    set_log_sink({});
    std::filesystem::remove(file_);
  }

  // Two layers named against their order, a step into training.
  static Model trained(const Optimizer& optimizer) {
    const auto layer = [](const char* name) { return Dense(3, {.use_bias = false, .name = name}); };
    Sequential model({Input({3}), layer("b"), layer("a")});
    model.compile({.optimizer = optimizer, .loss = "mse"});
    Tensor x = Tensor::zeros(DType::f32, {4, 3});
    for (int i = 0; i < 12; ++i) x.data<float>()[i] = static_cast<float>(i * i % 7);
    model.train_on_batch(std::vector<Tensor>{x}, std::vector<Tensor>{Tensor::zeros(DType::f32, {4, 3})});
    return model;
  }
  static std::vector<Tensor> state(Model& model) {
    std::vector<Tensor> list;
    for (const VariablePtr& v : model.body().trainer.optimizer().variables()) list.push_back(v->value);
    return list;
  }

  void write(Model& model, const char* version, const char* training_config,
             const std::vector<Tensor>& optimizer) {
    H5Writer h5(file_);
    h5.attribute("", "keras_version", std::string_view(version));
    h5.attribute("", "backend", std::string_view("tensorflow"));
    h5.attribute("", "model_config", model.to_json());
    h5.attribute("", "training_config", std::string_view(training_config));
    write_legacy_weights(h5, "model_weights", model.body().net());
    std::vector<std::string> names;
    h5.group("optimizer_weights");
    for (const Tensor& t : optimizer) {
      names.push_back(concat("Variable_", names.size()));
      h5.dataset(concat("optimizer_weights/", names.back()), t);
    }
    h5.attribute("optimizer_weights", "weight_names", names);
    h5.close();
  }

  // All but the learning rate, which these files have in the config.
  void expect_loaded(Model& from) {
    Model loaded = load_model(file_);
    EXPECT_EQ(said_, "");
    const std::vector<Tensor> got = state(loaded), want = state(from);
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) {
      if (i == 1) continue;
      ASSERT_EQ(got[i].type(), want[i].type());
      EXPECT_EQ(std::memcmp(read_bytes(got[i]), read_bytes(want[i]),
                            static_cast<size_t>(byte_size(got[i].dtype(), got[i].shape()))),
                0)
          << "variable " << i;
    }
  }

  std::string file_, said_;
};

constexpr const char* kAdam =
    R"({"optimizer_config": {"class_name": "Adam", "config": {"lr": 0.01}}, "loss": "mse", "metrics": []})";
constexpr const char* kSgd =
    R"({"optimizer_config": {"class_name": "SGD", "config": {"lr": 0.01, "momentum": 0.0}}, "loss": "mse"})";

TEST_F(OldOptimizer, Until205WeightsComeByName) {
  Model model = trained(Adam(0.01));
  const std::vector<Tensor> s = state(model);  // iterations, rate, m and v of "b", m and v of "a"
  write(model, "2.0.5", kAdam, {s[0], s[4], s[2], s[5], s[3]});
  expect_loaded(model);
}

TEST_F(OldOptimizer, Until210KindsComeOneAfterTheOther) {
  Model model = trained(Adam(0.01));
  const std::vector<Tensor> s = state(model);
  for (const char* version : {"2.0.6", "2.2.4-tf", "2.10.0"}) {
    write(model, version, kAdam, {s[0], s[2], s[4], s[3], s[5]});
    expect_loaded(model);
  }
}

TEST_F(OldOptimizer, From211AllOfAWeightComeTogether) {
  Model model = trained(Adam(0.01));
  const std::vector<Tensor> s = state(model);
  write(model, "2.12.0", kAdam, {s[0], s[2], s[3], s[4], s[5]});
  expect_loaded(model);
}

TEST_F(OldOptimizer, VariablesThatNobodyUsesAreLeftOut) {
  Model adam = trained(Adam(0.01));
  const std::vector<Tensor> s = state(adam);
  const Tensor zero = Tensor::zeros(DType::f32, {1});
  write(adam, "2.2.4", kAdam, {s[0], s[2], s[4], s[3], s[5], zero, zero});
  expect_loaded(adam);
  Model sgd = trained(SGD(0.01));
  const Tensor moments = Tensor::zeros(DType::f32, {3, 3});
  write(sgd, "2.2.4", kSgd, {state(sgd)[0], moments, moments});
  expect_loaded(sgd);
}

TEST_F(OldOptimizer, AListOfMetricsIsMeantForEveryOutput) {
  const Symbol x = Input({3});
  Model model({x}, {Dense(2)(x), Dense(2)(x)});
  write(
      model, "2.2.4",
      R"({"optimizer_config": {"class_name": "SGD", "config": {}}, "loss": ["mse", "mse"], "metrics": ["mae"]})",
      {});
  EXPECT_TRUE(load_model(file_).compiled());
  EXPECT_EQ(said_, "");
}

}  // namespace
}  // namespace plimsoll::keras_io
