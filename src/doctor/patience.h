// Patience ends after some time, so that a large environment or a slow disk does not make a diagnosis slow.
// On a machine with much to do the clock says little: there the processor time of this process is the limit.
// May be asked from several threads.
#pragma once

#include <chrono>

namespace plimsoll::doctor {

class Patience {
 public:
  explicit Patience(std::chrono::milliseconds limit);
  bool over() const;

 private:
  std::chrono::steady_clock::time_point start_;
  std::chrono::nanoseconds limit_, worked_before_;
};

}  // namespace plimsoll::doctor
