// ModelBody: what the copies of a Model share.
#pragma once

#include "train/trainer.h"

namespace plimsoll {

// Where a run of fit() stands: what comes next.
struct FitPosition {
  int64_t epoch = 0, step = 0;
  int64_t data_epoch = 0, data_batch = 0;  // differ from the above only with steps_per_epoch
  uint64_t data_seed = 0;                  // of the order of arrays
};

struct ModelBody {
  explicit ModelBody(Layer network) : network(std::move(network)), trainer(this->network) {}
  Network& net() const { return static_cast<Network&>(*network); }

  Layer network;
  Trainer trainer;
  bool stop_training = false, stop_evaluating = false, stop_predicting = false;
  bool interrupted = false;  // the last fit() was ended by Ctrl-C

  // While fit() runs.
  bool fitting = false;
  FitPosition position;
  std::vector<CallbackPtr> callbacks;          // in the order in which they are called
  std::vector<CallbackState> callback_states;  // restored, one for each, to be set after on_train_begin()
};

}  // namespace plimsoll
