// InterruptWatch: while one lives, Ctrl-C (SIGINT) sets a flag instead of ending the process; a second one
// ends it as before. The handler that was there comes back with its end. One thread at a time; watches may
// nest.
#pragma once

#include <csignal>

namespace plimsoll {

class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  static bool interrupted();

 private:
  struct sigaction before_;
  bool set_ = false;
};

}  // namespace plimsoll
