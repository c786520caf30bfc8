// The callbacks that need little more than the logs.
#include "plimsoll/callbacks.h"

#include <cmath>

#include "plimsoll/error.h"
#include "plimsoll/model.h"
#include "train/callbacks/monitor.h"

namespace plimsoll {
namespace {

void set_log(Logs& logs, std::string_view name, double value) {
  for (auto& [key, old] : logs) {
    if (key == name) {
      old = value;
      return;
    }
  }
  logs.emplace_back(name, value);
}

class EarlyStoppingCallback final : public Callback {
 public:
  explicit EarlyStoppingCallback(const EarlyStoppingOptions& o)
      : o_(o), monitor_("EarlyStopping", o.monitor, o.mode, o.min_delta) {}
  bool wants_batch_logs() const override { return false; }
  void on_train_begin() override {
    wait_ = stopped_epoch_ = best_epoch_ = 0;
    best_.reset();
    best_weights_.clear();
  }
  void on_epoch_end(int64_t epoch, Logs& logs) override {
    const std::optional<double> now = monitor_.value(logs);
    if (!now || epoch < o_.start_from_epoch) return;
    if (o_.restore_best_weights && best_weights_.empty()) keep(epoch);
    ++wait_;
    if (monitor_.improved(*now, best_)) {
      best_ = now;
      keep(epoch);
      if (!o_.baseline || monitor_.improved(*now, o_.baseline)) wait_ = 0;
      return;
    }
    if (wait_ >= o_.patience && epoch > 0) {
      stopped_epoch_ = epoch;
      model().stop_training();
    }
  }
  void on_train_end(const Logs&) override {
    if (stopped_epoch_ > 0 && o_.verbose > 0) say(concat("Epoch ", stopped_epoch_ + 1, ": early stopping"));
    if (best_weights_.empty()) return;
    if (o_.verbose > 0)
      say(concat("Restoring model weights from the end of the best epoch: ", best_epoch_ + 1, "."));
    model().set_weights(best_weights_);
  }
  CallbackState state() const override {
    return {{double(wait_), double(best_epoch_), double(stopped_epoch_), double(best_.has_value()),
             best_.value_or(0)},
            best_weights_};
  }
  void set_state(const CallbackState& s) override {
    if (s.numbers.size() != 5) return;
    wait_ = static_cast<int64_t>(s.numbers[0]);
    best_epoch_ = static_cast<int64_t>(s.numbers[1]);
    stopped_epoch_ = static_cast<int64_t>(s.numbers[2]);
    best_ = s.numbers[3] != 0 ? std::optional(s.numbers[4]) : std::nullopt;
    best_weights_ = s.tensors;
  }

 private:
  void keep(int64_t epoch) {
    best_epoch_ = epoch;
    if (o_.restore_best_weights) best_weights_ = model().get_weights();
  }
  EarlyStoppingOptions o_;
  Monitor monitor_;
  int64_t wait_ = 0, stopped_epoch_ = 0, best_epoch_ = 0;
  std::optional<double> best_;
  std::vector<Tensor> best_weights_;
};

class PlateauCallback final : public Callback {
 public:
  explicit PlateauCallback(const ReduceLROnPlateauOptions& o)
      : o_(o), monitor_("ReduceLROnPlateau", o.monitor, o.mode, o.min_delta) {
    require(o.factor < 1, "ReduceLROnPlateau", "expected a factor < 1, got ", o.factor);
  }
  bool wants_batch_logs() const override { return false; }
  void on_train_begin() override {
    best_.reset();
    cooldown_ = wait_ = 0;
  }
  void on_epoch_end(int64_t epoch, Logs& logs) override {
    set_log(logs, "learning_rate", model().learning_rate());
    const std::optional<double> now = monitor_.value(logs);
    if (!now) return;
    if (cooldown_ > 0) {
      --cooldown_;
      wait_ = 0;
    }
    if (monitor_.improved(*now, best_)) {
      best_ = now;
      wait_ = 0;
    } else if (cooldown_ == 0 && ++wait_ >= o_.patience) {
      reduce(epoch);
    }
  }
  CallbackState state() const override {
    return {{double(wait_), double(cooldown_), double(best_.has_value()), best_.value_or(0)}};
  }
  void set_state(const CallbackState& s) override {
    if (s.numbers.size() != 4) return;
    wait_ = static_cast<int64_t>(s.numbers[0]);
    cooldown_ = static_cast<int64_t>(s.numbers[1]);
    best_ = s.numbers[2] != 0 ? std::optional(s.numbers[3]) : std::nullopt;
  }

 private:
  void reduce(int64_t epoch) {
    const double old = model().learning_rate();
    if (old <= static_cast<double>(static_cast<float>(o_.min_lr))) return;
    const double rate = std::max(old * o_.factor, o_.min_lr);
    model().set_learning_rate(rate);
    if (o_.verbose > 0)
      say(concat("\nEpoch ", epoch + 1, ": ReduceLROnPlateau reducing learning rate to ", shortest(rate),
                 "."));
    cooldown_ = o_.cooldown;
    wait_ = 0;
  }
  ReduceLROnPlateauOptions o_;
  Monitor monitor_;
  int64_t wait_ = 0, cooldown_ = 0;
  std::optional<double> best_;
};

class RateCallback final : public Callback {
 public:
  RateCallback(std::function<double(int64_t, double)> schedule, int verbose)
      : schedule_(std::move(schedule)), verbose_(verbose) {}
  bool wants_batch_logs() const override { return false; }
  void on_train_begin() override { last_epoch_ = -1; }
  void on_epoch_begin(int64_t epoch) override {
    // An epoch that is resumed in its middle begins twice; a schedule may build on the rate before.
    if (epoch == last_epoch_) return;
    last_epoch_ = epoch;
    const double rate = schedule_(epoch, model().learning_rate());
    model().set_learning_rate(rate);
    if (verbose_ > 0)
      say(concat("\nEpoch ", epoch + 1, ": LearningRateScheduler setting learning rate to ", shortest(rate),
                 "."));
  }
  void on_epoch_end(int64_t, Logs& logs) override { set_log(logs, "learning_rate", model().learning_rate()); }
  CallbackState state() const override { return {{double(last_epoch_)}}; }
  void set_state(const CallbackState& s) override {
    if (s.numbers.size() == 1) last_epoch_ = static_cast<int64_t>(s.numbers[0]);
  }

 private:
  std::function<double(int64_t, double)> schedule_;
  int verbose_;
  int64_t last_epoch_ = -1;
};

class NanCallback final : public Callback {
 public:
  void on_train_batch_end(int64_t batch, const Logs& logs) override {
    const double* loss = find_log(logs, "loss");
    if (loss == nullptr || std::isfinite(*loss)) return;
    say(concat("Batch ", batch, ": Invalid loss, terminating training"));
    model().stop_training();
  }
};

class LambdaFunctions final : public Callback {
 public:
  explicit LambdaFunctions(const LambdaCallbackOptions& o) : o_(o) {}
  bool wants_batch_logs() const override { return o_.on_train_batch_end || o_.on_test_batch_end; }
  void on_train_begin() override {
    if (o_.on_train_begin) o_.on_train_begin();
  }
  void on_train_end(const Logs& logs) override {
    if (o_.on_train_end) o_.on_train_end(logs);
  }
  void on_epoch_begin(int64_t epoch) override {
    if (o_.on_epoch_begin) o_.on_epoch_begin(epoch);
  }
  void on_epoch_end(int64_t epoch, Logs& logs) override {
    if (o_.on_epoch_end) o_.on_epoch_end(epoch, logs);
  }
  void on_train_batch_begin(int64_t batch) override {
    if (o_.on_train_batch_begin) o_.on_train_batch_begin(batch);
  }
  void on_train_batch_end(int64_t batch, const Logs& logs) override {
    if (o_.on_train_batch_end) o_.on_train_batch_end(batch, logs);
  }
  void on_test_begin() override {
    if (o_.on_test_begin) o_.on_test_begin();
  }
  void on_test_end(const Logs& logs) override {
    if (o_.on_test_end) o_.on_test_end(logs);
  }
  void on_test_batch_begin(int64_t batch) override {
    if (o_.on_test_batch_begin) o_.on_test_batch_begin(batch);
  }
  void on_test_batch_end(int64_t batch, const Logs& logs) override {
    if (o_.on_test_batch_end) o_.on_test_batch_end(batch, logs);
  }
  void on_predict_begin() override {
    if (o_.on_predict_begin) o_.on_predict_begin();
  }
  void on_predict_end() override {
    if (o_.on_predict_end) o_.on_predict_end();
  }
  void on_predict_batch_begin(int64_t batch) override {
    if (o_.on_predict_batch_begin) o_.on_predict_batch_begin(batch);
  }
  void on_predict_batch_end(int64_t batch, const std::vector<Tensor>& outputs) override {
    if (o_.on_predict_batch_end) o_.on_predict_batch_end(batch, outputs);
  }
  void on_memory(const MemoryUse& use) override {
    if (o_.on_memory) o_.on_memory(use);
  }
  double memory_every() const override { return o_.on_memory ? o_.memory_every : -1; }

 private:
  LambdaCallbackOptions o_;
};

}  // namespace

void Callback::attach(const Model& model, const FitInfo& info) {
  model_ = std::make_shared<Model>(model);
  info_ = info;
}

Model& Callback::model() const {
  require(model_ != nullptr, "callback", "has no model yet; fit(), evaluate() and predict() give it theirs");
  return *model_;
}

CallbackPtr EarlyStopping(const EarlyStoppingOptions& o) {
  return std::make_shared<EarlyStoppingCallback>(o);
}
CallbackPtr ReduceLROnPlateau(const ReduceLROnPlateauOptions& o) {
  return std::make_shared<PlateauCallback>(o);
}
CallbackPtr LearningRateScheduler(std::function<double(int64_t, double)> schedule,
                                  const LearningRateSchedulerOptions& o) {
  require(bool(schedule), "LearningRateScheduler", "expected a function, got none");
  return std::make_shared<RateCallback>(std::move(schedule), o.verbose);
}
CallbackPtr TerminateOnNaN() { return std::make_shared<NanCallback>(); }
CallbackPtr LambdaCallback(const LambdaCallbackOptions& o) { return std::make_shared<LambdaFunctions>(o); }

}  // namespace plimsoll
