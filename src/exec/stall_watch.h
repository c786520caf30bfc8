// StallWatch: a thread that looks once a second whether an Activity goes on, and says so if it does not. The
// thread starts with the object and ends with it. In a forked child there is none, and the object can be
// destroyed there as well.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "exec/stall_judge.h"

namespace plimsoll {

// Of this process; `self` (optional) is the thread that is left out.
StallReading read_stall(int64_t self = 0);
double steady_seconds();

class StallWatch {
 public:
  // Reports go to the log, and to check() if `raise`. If the system gives no thread, nobody watches.
  StallWatch(Activity& activity, const StallOptions& options, bool raise);
  ~StallWatch();
  StallWatch(const StallWatch&) = delete;
  StallWatch& operator=(const StallWatch&) = delete;

  // For the thread that is watched, where it can stop: throws the StallError that is due.
  void check() {
    if (due_.load(std::memory_order_relaxed)) [[unlikely]]
      raise_now();
  }

 private:
  void watch() noexcept;
  void take(const StallReport& report);
  void raise_now();

  StallJudge judge_;
  const bool raise_;
  const pid_t process_;
  std::atomic<bool> due_{false};
  struct Signals {
    std::mutex mutex;
    std::condition_variable changed;
  };
  // Apart from the object, because a forked child must not destroy what the parent's thread waits on.
  std::unique_ptr<Signals> signals_ = std::make_unique<Signals>();
  bool stop_ = false;
  std::optional<StallReport> report_;
  std::thread thread_;
};

}  // namespace plimsoll
