// ModelCheckpoint: saves the model after epochs or batches.
#include <cctype>
#include <cstdio>
#include <filesystem>

#include "common/files.h"
#include "plimsoll/callbacks.h"
#include "plimsoll/error.h"
#include "plimsoll/model.h"
#include "train/callbacks/monitor.h"
#include "train/callbacks/python_format.h"

namespace plimsoll {
namespace {

class CheckpointCallback final : public Callback {
 public:
  CheckpointCallback(std::string path, const ModelCheckpointOptions& o)
      : path_(std::move(path)),
        o_(o),
        monitor_("ModelCheckpoint", o.monitor, o.mode, 0),
        best_(o.initial_value_threshold) {
    const bool weights = path_.ends_with(".weights.h5");
    require(o.save_weights_only ? weights : path_.ends_with(".keras") || path_.ends_with(".h5"),
            "ModelCheckpoint", "expected a path that ends in ",
            o.save_weights_only ? ".weights.h5" : ".keras", ", got '", path_, "'");
    require(o.save_freq >= 0, "ModelCheckpoint", "expected save_freq >= 0, got ", o.save_freq);
  }
  bool wants_batch_logs() const override { return o_.save_freq > 0; }
  void on_epoch_begin(int64_t epoch) override { epoch_ = epoch; }
  void on_epoch_end(int64_t epoch, Logs& logs) override {
    if (o_.save_freq == 0) save(epoch, -1, logs);
  }
  void on_train_batch_end(int64_t batch, const Logs& logs) override {
    if (o_.save_freq == 0 || ++batches_ < o_.save_freq) return;
    batches_ = 0;
    save(epoch_, batch, logs);
  }
  CallbackState state() const override {
    return {{double(batches_), double(best_.has_value()), best_.value_or(0)}};
  }
  void set_state(const CallbackState& s) override {
    if (s.numbers.size() != 3) return;
    batches_ = static_cast<int64_t>(s.numbers[0]);
    best_ = s.numbers[1] != 0 ? std::optional(s.numbers[2]) : std::nullopt;
  }

 private:
  bool should_save(int64_t epoch, const Logs& logs, const std::string& path) {
    if (!o_.save_best_only) {
      if (o_.verbose > 0) say(concat("\nEpoch ", epoch + 1, ": saving model to ", path));
      return true;
    }
    const std::optional<double> now = monitor_.value(logs);
    if (!now) return true;
    const bool better = monitor_.improved(*now, best_);
    if (o_.verbose > 0) {
      const std::string from = best_ ? python_format("{x:.5f}", {{"x", *best_}}) : "None";
      say(better ? concat("\nEpoch ", epoch + 1, ": ", o_.monitor, " improved from ", from, " to ",
                          python_format("{x:.5f}", {{"x", *now}}), ", saving model to ", path)
                 : concat("\nEpoch ", epoch + 1, ": ", o_.monitor, " did not improve from ", from));
    }
    if (better) best_ = now;
    return better;
  }

  void save(int64_t epoch, int64_t batch, const Logs& logs) {
    Logs values = logs;
    values.emplace_back("epoch", double(epoch + 1));
    if (batch >= 0) values.emplace_back("batch", double(batch + 1));
    const std::filesystem::path path = python_format(path_, values);
    if (!should_save(epoch, logs, path.string())) return;
    if (path.has_parent_path()) make_folder(path.parent_path());
    if (o_.save_weights_only) {
      model().save_weights(path);
    } else {
      model().save(path);
    }
  }

  std::string path_;
  ModelCheckpointOptions o_;
  Monitor monitor_;
  std::optional<double> best_;
  int64_t epoch_ = 0, batches_ = 0;
};

}  // namespace

CallbackPtr ModelCheckpoint(const std::string& filepath, const ModelCheckpointOptions& options) {
  return std::make_shared<CheckpointCallback>(filepath, options);
}

}  // namespace plimsoll
