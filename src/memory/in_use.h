// InUse: marks what one at a time may use. Whoever comes second gets an Error at once instead of disturbing
// the first; nobody waits.
#pragma once

#include <atomic>
#include <string_view>

#include "plimsoll/error.h"

namespace plimsoll {

class InUse {
 public:
  // From here to the end of its life the one user. Throws Error{invalid_argument} if there is one already.
  class Turn {
   public:
    Turn(InUse& thing, std::string_view place, std::string_view rule) : thing_(thing) {
      require(!thing.taken_.exchange(true, std::memory_order_acquire), place, rule,
              ", got a second one while the first is under way");
    }
    ~Turn() { thing_.taken_.store(false, std::memory_order_release); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    InUse& thing_;
  };

 private:
  std::atomic<bool> taken_{false};
};

}  // namespace plimsoll
