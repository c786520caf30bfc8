// StallGuard: watches a training loop of one's own, as fit() is watched (FitArgs::on_stall). For the thread
// that made it, whose Programs it sees; a thread looks on once a second while it lives.
#pragma once

#include <cstdint>
#include <memory>

#include "plimsoll/watch.h"

#pragma GCC visibility push(default)
namespace plimsoll {

class StallGuard {
 public:
  enum class Doing : uint8_t { preparing, data, step, callbacks, validation };

  struct Options {
    double after = 60;         // seconds without a sign of life; longer where more is usual
    double step_deadline = 0;  // seconds; 0: none
    bool raise = false;        // else reports go to the log only
  };
  // Throws Error{invalid_argument}.
  explicit StallGuard(const Options& options);
  ~StallGuard();
  StallGuard(const StallGuard&) = delete;
  StallGuard& operator=(const StallGuard&) = delete;

  // From here on the loop is about this. Throws the StallError that is due, unless a step begins.
  void enter(Doing doing);
  // Watches no longer, before the object ends. On the thread that made it.
  void close();

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace plimsoll
#pragma GCC visibility pop
