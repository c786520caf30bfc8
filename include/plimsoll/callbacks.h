// Callbacks: what fit() calls at each step and epoch. Derive from Callback for your own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace plimsoll {

class Model;

// Names and values in the order Keras prints them: loss, metrics, val_loss, ...
using Logs = std::vector<std::pair<std::string, double>>;
// nullptr if there is no such name.
const double* find_log(const Logs& logs, std::string_view name);

struct FitInfo {
  int64_t epochs = 0;
  int64_t steps = 0;  // per epoch; 0: not known yet
  int verbose = 1;
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
  virtual void on_test_batch_end(int64_t /*batch*/, const Logs&) {}

  // Set by fit() before on_train_begin().
  void attach(Model* model, const FitInfo& info) { model_ = model, info_ = info; }
  Model& model() const { return *model_; }
  const FitInfo& info() const { return info_; }

 private:
  Model* model_ = nullptr;
  FitInfo info_;
};
using CallbackPtr = std::shared_ptr<Callback>;

}  // namespace plimsoll
