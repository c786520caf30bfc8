// What a file holds and the model cannot take is left out with a word.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "common/files.h"
#include "common/zip_reader.h"
#include "common/zip_writer.h"
#include "plimsoll/error.h"
#include "plimsoll/layers.h"
#include "plimsoll/log.h"
#include "plimsoll/model.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras_io {
namespace {

namespace fs = std::filesystem;

class LeftOut : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / concat("left_out_", ::getpid());
    fs::create_directories(folder_);
    set_log_sink([this](LogLevel level, std::string_view place, std::string_view message) {
      said_ += concat(name_of(level), " [", place, "] ", message, "\n");
    });
  }
  void TearDown() override {
    set_log_sink({});
    fs::remove_all(folder_);
  }
  std::string file(const char* name) const { return (folder_ / name).string(); }
  bool said(std::string_view text) const { return said_.find(text) != std::string::npos; }

  // m.keras with another word in its config, as n.keras.
  std::string with(std::string_view word, std::string_view other) const {
    const ZipReader zip(FileSource::open(file("m.keras")));
    write_atomically(file("n.keras"), [&](NewFile& to) {
      ZipWriter out(to);
      for (const ZipReader::Member& member : zip.members()) {
        std::string bytes = zip.read(member, 1 << 20);
        const size_t at = bytes.find(word);
        if (member.name == "config.json" && at != std::string::npos) bytes.replace(at, word.size(), other);
        out.add(member.name, bytes);
      }
      out.finish();
    });
    return file("n.keras");
  }

  static Model trained(const Optimizer& optimizer, int steps) {
    Sequential model({Input({3}), Dense(2)});
    model.compile({.optimizer = optimizer, .loss = "mse"});
    const Tensor x = Tensor::full(DType::f32, {4, 3}, 1), y = Tensor::zeros(DType::f32, {4, 2});
    for (int i = 0; i < steps; ++i) model.train_on_batch(std::vector<Tensor>{x}, std::vector<Tensor>{y});
    return model;
  }

  fs::path folder_;
  std::string said_;
};

TEST_F(LeftOut, AStateOfAnotherOptimizerIsNamed) {
  trained(SGD(0.1, {.momentum = 0.9}), 2).save_weights(file("m.weights.h5"));
  trained(Adam(0.1), 0).load_weights(file("m.weights.h5"));
  EXPECT_TRUE(said("warning [" + file("m.weights.h5") + "]")) << said_;
  EXPECT_TRUE(said("state of the optimizer is left out, it does not fit Adam")) << said_;
  EXPECT_TRUE(said("expected 6 variables, got 4")) << said_;
}

TEST_F(LeftOut, AMetricThatIsNotKnownIsNamedAndTrainingGoesOn) {
  Model before = trained(Adam(0.1), 0);
  before.compile({.optimizer = Adam(0.1), .loss = "mse", .metrics = {"mae", metrics::Precision()}});
  const Tensor x = Tensor::full(DType::f32, {4, 3}, 1), y = Tensor::zeros(DType::f32, {4, 2});
  before.train_on_batch(std::vector<Tensor>{x}, std::vector<Tensor>{y});
  before.save(file("m.keras"));
  Model model = load_model(with("Precision", "MetricOfMyOwn"));
  EXPECT_TRUE(said("warning [" + file("n.keras") + "] a metric that the model was compiled with is left out"))
      << said_;
  EXPECT_TRUE(said("MetricOfMyOwn")) << said_;
  ASSERT_TRUE(model.compiled());
  EXPECT_EQ(model.compile_args().metrics.size(), 1u);
  const auto step = [&](Model& m) {
    m.train_on_batch(std::vector<Tensor>{x}, std::vector<Tensor>{y});
    return max(absolute(m.predict_on_batch({x})[0])).item();
  };
  EXPECT_EQ(step(model), step(before)) << "its optimizer goes on where it was";
}

TEST_F(LeftOut, ACompileConfigThatIsNotKnownIsNamed) {
  trained(Adam(0.1), 1).save(file("m.keras"));
  Model model = load_model(with("MeanSquaredError", "LossOfMyOwn"));
  EXPECT_TRUE(said("without the optimizer, loss and metrics")) << said_;
  EXPECT_TRUE(said("LossOfMyOwn") && said("call compile()")) << said_;
  EXPECT_EQ(model.predict_on_batch({Tensor::zeros(DType::f32, {1, 3})}).size(), 1u);
}

TEST_F(LeftOut, NothingIsSaidWhereAllIsTaken) {
  for (const char* name : {"m.keras", "m.h5"}) {
    for (const int steps : {0, 2}) {
      trained(Adam(0.1), steps).save(file(name));
      load_model(file(name));
    }
  }
  EXPECT_EQ(said_, "");
}

}  // namespace
}  // namespace plimsoll::keras_io
