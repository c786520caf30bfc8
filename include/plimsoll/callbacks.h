// Callbacks: what fit(), evaluate() and predict() call at each step and epoch, as Keras does.
//
//   model.fit(x, y, {.callbacks = {EarlyStopping({.patience = 2})}});
//
// Derive from Callback for your own. All are called on the thread that called fit(). What a callback throws
// ends the call and comes out of it; the model stays usable.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plimsoll/memory.h"
#include "plimsoll/tensor.h"

#pragma GCC visibility push(default)
namespace plimsoll {

class Model;

// Names and values, sorted by name as Keras does; val_... come after the others.
struct Logs : std::vector<std::pair<std::string, double>> {
  using std::vector<std::pair<std::string, double>>::vector;
  using std::vector<std::pair<std::string, double>>::operator[];
  const std::pair<std::string, double>& operator[](int i) const {
    return (*this)[static_cast<size_t>(i)];
  }  // 0 is no name
  // Throws Error{not_found} that lists the names there are, the nearest first.
  double operator[](std::string_view name) const;
  double operator[](const char* name) const { return (*this)[std::string_view(name)]; }
};
// nullptr if there is no such name.
const double* find_log(const Logs& logs, std::string_view name);
// Throws Error{not_found} that lists the names there are, the nearest first.
double get_log(const Logs& logs, std::string_view name);

struct FitInfo {
  int64_t epochs = 0;
  int64_t steps = 0;  // per epoch; 0: not known yet
  int verbose = 1;
};

struct CallbackState {
  std::vector<double> numbers = {};
  std::vector<Tensor> tensors = {};
};

class Callback {
 public:
  virtual ~Callback() = default;
  virtual void on_train_begin() {}
  virtual void on_train_end(const Logs&) {}
  virtual void on_epoch_begin(int64_t /*epoch*/) {}
  virtual void on_epoch_end(int64_t /*epoch*/, Logs&) {}  // may add to the logs
  virtual void on_train_batch_begin(int64_t /*batch*/) {}
  virtual void on_train_batch_end(int64_t /*batch*/, const Logs&) {}
  // evaluate(), and the validation of fit().
  virtual void on_test_begin() {}
  virtual void on_test_end(const Logs&) {}
  virtual void on_test_batch_begin(int64_t /*batch*/) {}
  virtual void on_test_batch_end(int64_t /*batch*/, const Logs&) {}
  virtual void on_predict_begin() {}
  virtual void on_predict_end() {}
  virtual void on_predict_batch_begin(int64_t /*batch*/) {}
  virtual void on_predict_batch_end(int64_t /*batch*/, const std::vector<Tensor>& /*outputs*/) {}
  // What is held, after a step of fit(), if so many seconds have passed since the last time (memory_every();
  // negative: never), and at the end of each epoch.
  virtual void on_memory(const MemoryUse&) {}
  virtual double memory_every() const { return -1; }
  // Whether on_train_batch_end() and on_test_batch_end() want the logs, which take a moment to make; else
  // they are empty.
  virtual bool wants_batch_logs() const { return true; }
  // What a checkpoint is to keep of this callback, and how it comes back: after on_train_begin().
  virtual CallbackState state() const { return {}; }
  virtual void set_state(const CallbackState&) {}
  // Whether it is to come after all others, because it keeps their state.
  virtual bool comes_last() const { return false; }

  // Called by fit(), evaluate() and predict() before anything else. Keeps the model until the next time.
  void attach(const Model& model, const FitInfo& info);
  Model& model() const;  // throws Error{invalid_argument} before that
  const FitInfo& info() const { return info_; }

 private:
  std::shared_ptr<Model> model_;
  FitInfo info_;
};
using CallbackPtr = std::shared_ptr<Callback>;

// mode: "min", "max", or "auto": losses and errors are to fall, accuracies and the like to rise.
struct EarlyStoppingOptions {
  std::string monitor = "val_loss";
  double min_delta = 0;
  int64_t patience = 0;
  int verbose = 0;
  std::string mode = "auto";
  std::optional<double> baseline = {};
  bool restore_best_weights = false;
  int64_t start_from_epoch = 0;
};
CallbackPtr EarlyStopping(const EarlyStoppingOptions& options = {});

struct ReduceLROnPlateauOptions {
  std::string monitor = "val_loss";
  double factor = 0.1;
  int64_t patience = 10;
  int verbose = 0;
  std::string mode = "auto";
  double min_delta = 0.0001;
  int64_t cooldown = 0;
  double min_lr = 0;
};
CallbackPtr ReduceLROnPlateau(const ReduceLROnPlateauOptions& options = {});

struct ModelCheckpointOptions {
  std::string monitor = "val_loss";
  int verbose = 0;
  bool save_best_only = false;
  bool save_weights_only = false;
  std::string mode = "auto";
  int64_t save_freq = 0;  // 0: each epoch; else every so many batches
  std::optional<double> initial_value_threshold = {};
};
// `filepath` ends in .keras or .h5, or in .weights.h5 with save_weights_only. It may hold what Python's
// format() knows: "best-{epoch:02d}-{val_loss:.2f}.keras".
CallbackPtr ModelCheckpoint(const std::string& filepath, const ModelCheckpointOptions& options = {});

struct LearningRateSchedulerOptions {
  int verbose = 0;
};
// `schedule` is given the epoch and the present rate.
CallbackPtr LearningRateScheduler(std::function<double(int64_t epoch, double rate)> schedule,
                                  const LearningRateSchedulerOptions& options = {});

struct CSVLoggerOptions {
  std::string separator = ",";
  bool append = false;
};
CallbackPtr CSVLogger(const std::string& filename, const CSVLoggerOptions& options = {});

// Ends training when the loss is NaN or infinite.
CallbackPtr TerminateOnNaN();

struct MemoryMonitorOptions {
  double every = 1;            // seconds; 0: after each step
  int64_t most_lines = 10000;  // then it writes half as often, again and again
};
// Writes what is held as CSV: seconds, epoch, step, engine, engine_peak, resident, resident_peak, limit
// (bytes; empty: none). A `filename` that is empty: to the log, at level info.
CallbackPtr MemoryMonitor(const std::string& filename, const MemoryMonitorOptions& options = {});

struct BackupAndRestoreOptions {
  int64_t save_freq = 0;  // 0: each epoch; else every so many batches
  bool delete_checkpoint = true;
};
// Keeps all that training depends on in `backup_dir`: weights, optimizer state, sums of metrics, random
// state, the place in the data, and what the other callbacks keep (best weights, counters, the log so far). A
// run that is killed at any moment and started again ends with the same bits as one that was not.
CallbackPtr BackupAndRestore(const std::string& backup_dir, const BackupAndRestoreOptions& options = {});

struct TensorBoardOptions {
  int64_t histogram_freq = 0;  // only 0: no histograms of weights
  bool write_graph = true;     // the model's layers, for the tab "Graphs"
  int64_t update_freq = 0;     // 0: each epoch; else every so many batches too
};
// Event files for TensorBoard in log_dir/train and log_dir/validation, with Keras's names: epoch_loss,
// epoch_learning_rate, evaluation_loss_vs_iterations, batch_loss.
CallbackPtr TensorBoard(const std::string& log_dir = "logs", const TensorBoardOptions& options = {});

struct SwapEMAWeightsOptions {
  bool swap_on_epoch = false;
};
// For an optimizer with use_ema: evaluate() and predict() (with swap_on_epoch, the ends of epochs too) see
// the averages, training goes on with the weights.
CallbackPtr SwapEMAWeights(const SwapEMAWeightsOptions& options = {});

struct LambdaCallbackOptions {
  std::function<void()> on_train_begin = {};
  std::function<void(const Logs&)> on_train_end = {};
  std::function<void(int64_t)> on_epoch_begin = {};
  std::function<void(int64_t, Logs&)> on_epoch_end = {};
  std::function<void(int64_t)> on_train_batch_begin = {};
  std::function<void(int64_t, const Logs&)> on_train_batch_end = {};
  std::function<void()> on_test_begin = {};
  std::function<void(const Logs&)> on_test_end = {};
  std::function<void(int64_t)> on_test_batch_begin = {};
  std::function<void(int64_t, const Logs&)> on_test_batch_end = {};
  std::function<void()> on_predict_begin = {};
  std::function<void()> on_predict_end = {};
  std::function<void(int64_t)> on_predict_batch_begin = {};
  std::function<void(int64_t, const std::vector<Tensor>&)> on_predict_batch_end = {};
  std::function<void(const MemoryUse&)> on_memory = {};
  double memory_every = 1;  // seconds
};
CallbackPtr LambdaCallback(const LambdaCallbackOptions& options);

}  // namespace plimsoll
#pragma GCC visibility pop
