// Recompute: a way down from the peak of an order to lower ones, by values that are dropped in an idle gap
// and made again. Which ones does not depend on the line that is asked for: the same steps down lead to every
// line, so a lower line costs no less time and a higher one no more. Not thread-safe.
#pragma once

#include <cstdint>

#include "plan/replay.h"

namespace plimsoll {

class Recompute {
 public:
  // `far`: how much more a value is worth dropping whose next use is far away; `replay` must outlive this.
  Recompute(Replay& replay, double far);

  // Goes on dropping until the replay's peak is at most `target`; false if there is nothing left to drop that
  // helps. The replay then speaks of the lowest peak there was.
  bool reach(int64_t target);
  // The replay without the drops that turned out not to be needed for `target`. reach() goes on from before.
  void undo(int64_t target);

  int64_t lowest() const { return lowest_; }

 private:
  bool drop_some(int64_t target);
  bool replay(const Replay::Drops& drops);

  Replay& replay_;
  double far_;
  size_t most_execs_;
  size_t work_left_;  // execs that may still be replayed: time that does not depend on the clock
  Replay::Drops drops_;
  int64_t lowest_ = 0;
  Replay::Drops at_lowest_;
  std::vector<Replay::Idle> idle_;
};

}  // namespace plimsoll
