// Model files that real Keras wrote (tests/golden/keras_files/make.py), against what it predicted.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "plimsoll/error.h"
#include "plimsoll/model.h"
#include "plimsoll/npy.h"
#include "plimsoll/ops/math.h"

namespace plimsoll {
namespace {

namespace fs = std::filesystem;

// Float32 sums in another order.
constexpr double kTolerance = 1e-5;

class Golden : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const NamedTensors all = read_npz(file(".npz"));
    arrays_ = {all.begin(), all.end()};
    clear_session();
  }
  static std::string file(const std::string& suffix) {
    return std::string(PLIMSOLL_GOLDEN_FOLDER "/keras_files/") + GetParam() + suffix;
  }
  std::vector<Tensor> arrays(const std::string& prefix) const {
    std::vector<Tensor> list;
    for (size_t i = 0; arrays_.count(concat(prefix, i)); ++i) list.push_back(arrays_.at(concat(prefix, i)));
    return list;
  }
  static double difference(const Tensor& a, const Tensor& b) {
    EXPECT_EQ(a.type(), b.type());
    double most = 0;
    for (int64_t i = 0; a.type() == b.type() && i < a.shape().elements(); ++i) {
      const double d = std::fabs(double(a.data<float>()[i]) - b.data<float>()[i]);
      most = std::isnan(d) ? INFINITY : std::max(most, d);
    }
    return most;
  }
  void expect_predictions(Model model) const {
    const std::vector<Tensor> got = model.predict_on_batch(arrays("x")), want = arrays("y");
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_LE(difference(got[i], want[i]), kTolerance) << "output " << i;
  }

  void expect_training(Model model) const {
    for (int step = 0; step < 2; ++step) model.train_on_batch(arrays("x"), arrays("t"));
    const std::vector<Tensor> got = model.get_weights(), want = arrays("w");
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_LE(difference(got[i], want[i]), kTolerance) << "weight " << i;
  }

  std::map<std::string, Tensor> arrays_;
};

TEST_P(Golden, PredictsAsKerasDid) {
  for (const char* suffix : {".keras", ".h5"}) {
    SCOPED_TRACE(suffix);
    expect_predictions(load_model(file(suffix)));
  }
}

TEST_P(Golden, SavedAgainPredictsTheSame) {
  for (const char* suffix : {".keras", ".h5"}) {
    const fs::path copy = fs::path(::testing::TempDir()) / concat("golden_", ::getpid(), suffix);
    load_model(file(".keras")).save(copy);
    SCOPED_TRACE(suffix);
    expect_predictions(load_model(copy));
    fs::remove(copy);
  }
}

TEST_P(Golden, TrainingGoesOnAsInKeras) {
  if (arrays("t").empty()) GTEST_SKIP() << "was not compiled";
  for (const char* suffix : {".keras", ".h5"}) {
    SCOPED_TRACE(suffix);
    expect_training(load_model(file(suffix)));
  }
}

INSTANTIATE_TEST_SUITE_P(KerasFiles, Golden,
                         ::testing::Values("keras3_chain", "keras3_image", "keras3_volume", "keras3_text",
                                           "tf_keras_chain", "tf_keras_image", "tf_keras_volume",
                                           "tf_keras_text", "tf212_chain", "tf212_image", "tf212_volume",
                                           "tf212_text"),
                         [](const auto& info) { return info.param; });

// Keras 3 as it was at first, and in the middle of its way.
class EarlyGolden : public Golden {};

TEST_P(EarlyGolden, PredictsAsKerasDid) { expect_predictions(load_model(file(".keras"))); }

TEST_P(EarlyGolden, TrainingGoesOnAsInKeras) {
  if (arrays("t").empty()) GTEST_SKIP() << "was not compiled";
  expect_training(load_model(file(".keras")));
}

INSTANTIATE_TEST_SUITE_P(Files, EarlyGolden,
                         ::testing::Values("keras30_chain", "keras30_image", "keras30_text", "keras35_chain",
                                           "keras35_image", "keras35_text"),
                         [](const auto& info) { return info.param; });

ErrorKind kind_of_loading(const fs::path& path) {
  try {
    load_model(path);
  } catch (const Error& e) {
    return e.kind();
  }
  return ErrorKind::internal;
}

// Whole-model .h5 files: of real Keras 1 and 2 on Theano (tests/golden/keras_files/make_theano.py), and of
// Keras 1 on TensorFlow and layers for cuDNN, written by hand (make_old.py). And TensorFlow's functions.
class OldGolden : public Golden {};

TEST_P(OldGolden, PredictsAsKerasDid) { expect_predictions(load_model(file(".h5"))); }

INSTANTIATE_TEST_SUITE_P(Files, OldGolden,
                         ::testing::Values("keras122_last", "keras122_first", "keras122_text",
                                           "keras122_chain", "keras224_last", "keras224_first",
                                           "keras224_text", "keras224_chain", "keras1_theano_tf",
                                           "keras1_theano_th", "keras1_text", "cudnn_lstm", "cudnn_gru",
                                           "tf_keras_functions"),
                         [](const auto& info) { return info.param; });

TEST(LoadModel, ACutFileIsABadFile) {
  const fs::path whole = PLIMSOLL_GOLDEN_FOLDER "/keras_files/keras3_chain.keras";
  const fs::path cut = fs::path(::testing::TempDir()) / concat("cut_", ::getpid(), ".keras");
  const auto size = fs::file_size(whole);
  for (const auto keep : {uintmax_t{0}, uintmax_t{1}, size / 4, size / 2, size - 1}) {
    fs::copy_file(whole, cut, fs::copy_options::overwrite_existing);
    fs::resize_file(cut, keep);
    EXPECT_EQ(kind_of_loading(cut), ErrorKind::bad_file) << keep;
  }
  fs::remove(cut);
  EXPECT_EQ(kind_of_loading(cut), ErrorKind::not_found);
}

TEST(ModelFromJson, UnknownLayersAreNamedWithWhatCanBeDone) {
  const auto message = [](const std::string& class_name) -> std::string {
    try {
      model_from_json(
          R"({"class_name": "Sequential", "config": {"name": "s", "layers": [{"class_name": "InputLayer", "config":
          {"batch_shape": [null, 3], "name": "i"}}, {"class_name": ")" +
          class_name + R"(", "config": {"name": "odd"}}]}})");
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::unsupported);
      return e.what();
    }
    return "";
  };
  EXPECT_NE(message("Lambda").find("[odd] is a Lambda"), std::string::npos) << message("Lambda");
  EXPECT_NE(message("Mystery").find("[odd] is of the class Mystery"), std::string::npos)
      << message("Mystery");
}

// Keras 1: names of arguments, the input inside the first layer, a config that is a list.
TEST(ModelFromJson, TheDtypeOfAnOldEmbeddingIsItsInputs) {
  const Model model = model_from_json(R"({"class_name": "Sequential", "config": [
      {"class_name": "Embedding", "config": {"name": "e", "input_dim": 9, "output_dim": 4, "dtype": "int32",
       "batch_input_shape": [null, 5], "input_length": 5, "mask_zero": false}},
      {"class_name": "Dense", "config": {"name": "d", "units": 2}}]})");
  EXPECT_EQ(model.network()->weights()[0]->value.dtype(), DType::f32);
}

TEST(ModelFromJson, LongCutsOfAnAxisOfNoKnownSizeAreTaken) {
  Model model = model_from_json(R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
      {"class_name": "InputLayer", "config": {"batch_shape": [null, null, 2], "name": "i"}},
      {"class_name": "Cropping1D", "config": {"name": "c", "cropping": [5000, 5000]}},
      {"class_name": "Conv1D", "config": {"name": "d", "filters": 3, "kernel_size": 1}}]}})");
  EXPECT_EQ(model.predict_on_batch({Tensor::zeros(DType::f32, {1, 10010, 2})})[0].shape(), Shape({1, 10, 3}));
}

TEST(ModelFromJson, TheHardSigmoidOfKeras2IsKept) {
  const auto at_two = [](const std::string& version) {
    Model model =
        model_from_json(R"({"class_name": "Sequential", )" + version + R"("config": {"name": "s", "layers": [
        {"class_name": "InputLayer", "config": {"batch_shape": [null, 1], "name": "i"}},
        {"class_name": "Activation", "config": {"name": "a", "activation": "hard_sigmoid"}}]}})");
    return model.predict_on_batch({Tensor::full(DType::f32, {1, 1}, 2)})[0].data<float>()[0];
  };
  EXPECT_FLOAT_EQ(at_two(R"("keras_version": "2.3.1", )"), 0.9f);
  EXPECT_FLOAT_EQ(at_two(""), 5.0f / 6);
}

TEST(ModelFromJson, UnderstandsKeras1) {
  const Model model = model_from_json(R"({"class_name": "Sequential", "config": [
      {"class_name": "Convolution2D", "config": {"name": "c", "batch_input_shape": [null, 8, 8, 3], "nb_filter": 4,
       "nb_row": 3, "nb_col": 3, "border_mode": "same", "subsample": [2, 2], "dim_ordering": "tf", "init": "glorot_uniform",
       "bias": true, "activation": "relu", "trainable": true, "W_regularizer": null}},
      {"class_name": "Dropout", "config": {"name": "d", "p": 0.5, "trainable": true}},
      {"class_name": "Flatten", "config": {"name": "f", "trainable": true}},
      {"class_name": "Dense", "config": {"name": "o", "output_dim": 2, "input_dim": 64, "init": "uniform",
       "activation": "softmax", "bias": false, "trainable": true}}]})");
  EXPECT_EQ(model.outputs()[0].shape(), (SymbolShape{-1, 2}));
  EXPECT_EQ(model.count_params(), 3 * 3 * 3 * 4 + 4 + 64 * 2);
}

}  // namespace
}  // namespace plimsoll
