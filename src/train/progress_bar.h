// ProgressBar: what fit() and evaluate() print. On a terminal a bar that is drawn anew in place; elsewhere,
// and with verbose 2, one line per epoch.
#pragma once

#include <chrono>
#include <string>

#include "plimsoll/callbacks.h"

namespace plimsoll {

class Trainer;

class ProgressBar {
 public:
  // verbose as in FitArgs; steps 0: not known.
  ProgressBar(const Trainer& trainer, int verbose, int64_t steps, int64_t epochs);

  void begin_epoch(int64_t epoch);
  // After each step. Costs a look at the clock; draws at most some times a second.
  void step(int64_t done);
  void end_epoch(const Logs& logs);
  // The same without a line "Epoch 1/3", for evaluate() and predict().
  void begin_pass();

 private:
  std::string bar(int64_t done) const;
  std::string pace(int64_t done, bool finished) const;
  void draw(int64_t done, const Logs& logs, bool finished);

  const Trainer* trainer_;
  int verbose_;
  bool live_;  // a terminal
  int64_t steps_, epochs_;
  int64_t done_ = 0;
  size_t drawn_ = 0;  // width of the line on the screen
  std::chrono::steady_clock::time_point begin_, next_draw_;
};

}  // namespace plimsoll
