// ModelCheckpoint saves when and where Keras does: the same numbers shown to both; the lists are what
// keras 3.15's callback wrote (epoch, or epoch.batch, and the file).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "plimsoll/error.h"
#include "plimsoll/model.h"

namespace plimsoll {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

constexpr double kLoss[] = {0.9, 0.5, 0.7, 0.5, 0.3, 0.4};
constexpr double kAccuracy[] = {0.2, 0.6, 0.5, 0.6, 0.9, 0.1};

class ModelCheckpoints : public testing::Test {
 protected:
  ModelCheckpoints() : folder_(fs::path(testing::TempDir()) / "checkpoints") { clear(); }
  ~ModelCheckpoints() override { fs::remove_all(folder_); }

  void clear() const {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }

  // What is there now, after `when`; and takes it away.
  void look(const std::string& when, Names& written) const {
    Names now;
    for (const auto& entry : fs::directory_iterator(folder_))
      now.push_back(concat(when, ":", entry.path().filename().string()));
    std::sort(now.begin(), now.end());
    written.insert(written.end(), now.begin(), now.end());
    clear();
  }

  Names written(const std::string& file, const ModelCheckpointOptions& options, int64_t batches = 0) {
    Sequential model({Input({2}), Dense(1)});
    model.compile({.optimizer = "sgd", .loss = "mse", .metrics = {"accuracy"}});
    const CallbackPtr callback = ModelCheckpoint((folder_ / file).string(), options);
    callback->attach(model, {});
    callback->on_train_begin();
    Names all;
    for (size_t e = 0; e < std::size(kLoss); ++e) {
      const auto epoch = static_cast<int64_t>(e);
      callback->on_epoch_begin(epoch);
      for (int64_t batch = 0; batch < batches; ++batch) {
        callback->on_train_batch_end(batch, {{"accuracy", kAccuracy[e]}, {"loss", kLoss[e]}});
        look(concat(epoch, ".", batch), all);
      }
      Logs logs = {{"accuracy", kAccuracy[e]},
                   {"loss", kLoss[e]},
                   {"val_accuracy", kAccuracy[e]},
                   {"val_loss", kLoss[e]}};
      callback->on_epoch_end(epoch, logs);
      look(std::to_string(epoch), all);
    }
    return all;
  }

  fs::path folder_;
};

TEST_F(ModelCheckpoints, FillInTheName) {
  EXPECT_EQ(written("{epoch:02d}-{val_loss:.2f}.keras", {}),
            (Names{"0:01-0.90.keras", "1:02-0.50.keras", "2:03-0.70.keras", "3:04-0.50.keras",
                   "4:05-0.30.keras", "5:06-0.40.keras"}));
  EXPECT_THROW(written("{val_auc}.keras", {}), Error);
}

TEST_F(ModelCheckpoints, KeepTheBestAlone) {
  const Names falling_loss = {"0:best.keras", "1:best.keras", "4:best.keras"};
  EXPECT_EQ(written("best.keras", {.save_best_only = true}), falling_loss);
  EXPECT_EQ(written("best.keras", {.monitor = "val_accuracy", .save_best_only = true}), falling_loss);
  EXPECT_EQ(written("best.keras", {.monitor = "val_accuracy", .save_best_only = true, .mode = "min"}),
            (Names{"0:best.keras", "5:best.keras"}));
  EXPECT_EQ(written("best-{epoch}.keras", {.save_best_only = true, .initial_value_threshold = 0.5}),
            Names{"4:best-5.keras"});
}

TEST_F(ModelCheckpoints, WithoutTheNumberToLookAtSaveAlways) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(written("none.keras", {.monitor = "val_auc", .save_best_only = true}).size(), 6u);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("there is no 'val_auc'"), std::string::npos);
}

TEST_F(ModelCheckpoints, CountBatchesOverEpochs) {
  EXPECT_EQ(written("b-{epoch}-{batch:02d}.keras", {.save_freq = 3}, 5),
            (Names{"0.2:b-1-03.keras", "1.0:b-2-01.keras", "1.3:b-2-04.keras", "2.1:b-3-02.keras",
                   "2.4:b-3-05.keras", "3.2:b-4-03.keras", "4.0:b-5-01.keras", "4.3:b-5-04.keras",
                   "5.1:b-6-02.keras", "5.4:b-6-05.keras"}));
  EXPECT_EQ(written("b-{epoch}-{batch:02d}-{loss:.1f}.keras",
                    {.monitor = "loss", .save_best_only = true, .mode = "min", .save_freq = 4}, 5),
            (Names{"0.3:b-1-04-0.9.keras", "1.2:b-2-03-0.5.keras", "4.3:b-5-04-0.3.keras"}));
}

TEST_F(ModelCheckpoints, OfWeightsLoadAsWeights) {
  Sequential model({Input({2}), Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const CallbackPtr callback =
      ModelCheckpoint((folder_ / "inner/w-{epoch:03d}.weights.h5").string(), {.save_weights_only = true});
  callback->attach(model, {});
  Logs logs = {{"val_loss", 1}};
  callback->on_epoch_end(0, logs);
  Sequential other({Input({2}), Dense(1)});
  other.load_weights(folder_ / "inner/w-001.weights.h5");
  EXPECT_EQ(other.get_weights()[0].data<float>()[1], model.get_weights()[0].data<float>()[1]);
}

TEST_F(ModelCheckpoints, RefuseNamesKerasRefuses) {
  EXPECT_THROW(ModelCheckpoint("m.keras", {.save_weights_only = true}), Error);
  EXPECT_THROW(ModelCheckpoint("m.bin"), Error);
  EXPECT_THROW(ModelCheckpoint("m.keras", {.mode = "best"}), Error);
  EXPECT_THROW(ModelCheckpoint("m.keras", {.save_freq = -1}), Error);
}

}  // namespace
}  // namespace plimsoll
