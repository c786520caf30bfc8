// Patience ends after a time, so that a slow disk does not make a diagnosis slow. Time in which other
// programs had the processor does not count: on a busy machine as much is looked at as on an idle one. May be
// asked from several threads.
#pragma once

#include <chrono>
#include <thread>

namespace plimsoll::doctor {

class Patience {
 public:
  explicit Patience(std::chrono::milliseconds limit);
  bool over() const;

 private:
  std::chrono::steady_clock::time_point start_;
  std::chrono::nanoseconds limit_, waited_before_;
  std::thread::id thread_;  // that made it
};

}  // namespace plimsoll::doctor
