// FitLoop: one call of fit(): epochs, validation, callbacks, progress, the memory line, Ctrl-C, resuming.
#pragma once

#include <functional>
#include <memory>

#include "plimsoll/model.h"
#include "train/fit_watch.h"
#include "train/memory_line.h"
#include "train/model_body.h"
#include "train/nan_watch.h"
#include "train/progress_bar.h"

namespace plimsoll {

class FitLoop {
 public:
  // The data set in the order that follows from a seed; data sets of the user's own ignore it.
  using MakeData = std::function<Dataset(uint64_t seed)>;

  // validation (optional: nullptr).
  FitLoop(Model model, const FitArgs& args, MakeData data, std::unique_ptr<const Dataset> validation);
  History run();
  // Throws what run() would refuse before it makes anything.
  void check();

 private:
  void plan();
  void begin();
  Logs run_epoch();
  bool step();
  void validate(Logs& logs);
  bool stopped() const;
  void tell_memory(bool now);
  template <class Call>
  void each(Call call) {
    for (const CallbackPtr& c : body_.callbacks) call(*c);
  }

  Model model_;  // a handle of its own: what a callback or a generator does to the user's ends nothing
  ModelBody& body_;
  const FitArgs& args_;
  MakeData make_data_;
  std::unique_ptr<const Dataset> data_, validation_;
  NanWatch nans_;
  FitWatch watch_;
  MemoryLine line_;
  bool wants_logs_;
  ProgressBar bar_;
  std::unique_ptr<BatchReader> reader_;
  Batch batch_;
  Logs no_logs_;
  double memory_every_ = -1;  // seconds, of the callback that wants it most often; negative: none does
  double memory_told_ = 0;
};

}  // namespace plimsoll
