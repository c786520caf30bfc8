// Times on the device.
#pragma once

#include "fault.h"
#include "libraries.h"

namespace plimsoll::cuda {

class Stopwatch {
 public:
  Stopwatch() {
    check(driver().event_create(&begin_, 0), "event");
    check(driver().event_create(&end_, 0), "event");
  }
  ~Stopwatch() {
    if (begin_ != nullptr) driver().event_destroy(begin_);
    if (end_ != nullptr) driver().event_destroy(end_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  void start(CUstream stream) { check(driver().event_record(begin_, stream), "event"); }
  // Seconds, once everything before on the stream has run.
  double stop(CUstream stream) {
    check(driver().event_record(end_, stream), "event");
    check(driver().event_synchronize(end_), "waiting for a step");
    float milliseconds = 0;
    check(driver().event_elapsed(&milliseconds, begin_, end_), "event");
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  CUevent begin_ = nullptr, end_ = nullptr;
};

}  // namespace plimsoll::cuda
