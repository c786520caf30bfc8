// FitWatch: what looks on while fit() runs: the stall watch, and the trace if one is asked for. For the
// thread that made it.
#pragma once

#include <memory>
#include <optional>

#include "exec/stall_watch.h"
#include "plimsoll/model.h"
#include "train/fit_trace.h"

namespace plimsoll {

class FitWatch {
 public:
  using Doing = Activity::Doing;

  // Throws Error{invalid_argument} for a policy that is none, {io} if the trace cannot be written.
  explicit FitWatch(const FitArgs& args);
  ~FitWatch();
  FitWatch(const FitWatch&) = delete;
  FitWatch& operator=(const FitWatch&) = delete;

  // Starts to watch.
  void begin();
  // From here on fit() is about this. Throws the StallError that is due, unless a step begins: what was done
  // before can end as it is.
  void enter(Doing doing);
  // A step has ended that was expected to take so many seconds.
  void stepped(double expected);
  void begin_epoch(int64_t epoch);
  void end_epoch();
  // Writes the trace. Throws Error{io}.
  void end();

 private:
  using Clock = KernelRecorder::Clock;
  void close(Clock::time_point now);

  const FitArgs& args_;
  Activity activity_;
  std::unique_ptr<FitTrace> trace_;  // nullptr: none
  std::optional<BeatScope> scope_;
  std::optional<StallWatch> stalls_;
  Clock::time_point since_;
  int64_t steps_ = 0, epoch_ = -1;
  Clock::time_point epoch_since_;
};

}  // namespace plimsoll
