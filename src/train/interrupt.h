// InterruptWatch: while one lives, Ctrl-C (SIGINT) sets a flag instead of ending the process; a second one
// ends it as before. The handler that was there comes back with the end of the last one. Watches may nest,
// and several threads may have one each: all of them see the flag.
#pragma once

namespace plimsoll {

class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  static bool interrupted();
};

}  // namespace plimsoll
