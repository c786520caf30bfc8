// Recompute: a way down from the peak of an order to lower ones, by values that are dropped in an idle gap
// and made again. Which ones does not depend on the line that is asked for: the same steps down lead to every
// line, so a lower line costs no less time and a higher one no more. Not thread-safe.
#pragma once

#include <cstdint>

#include "plan/replay.h"

namespace plimsoll {

struct WayDown {
  double far = 0;      // how much more a value is worth dropping whose next use is far away
  bool holds = false;  // smaller ones may be held for it
};

class Recompute {
 public:
  // `work`: execs that may be replayed, which is time that does not depend on the clock. `replay` must
  // outlive this.
  Recompute(Replay& replay, const WayDown& way, size_t work);

  // Goes on dropping until the replay's peak is at most `target`, then takes back what turned out not to be
  // needed for that; false if there is nothing left to drop that helps. The replay then speaks of the lowest
  // peak there was.
  bool reach(int64_t target);

 private:
  bool drop_some(int64_t target);
  void drop(const Replay::Idle& idle);
  void take_back(uint32_t gap);
  void undo(int64_t target);
  bool replay();

  Replay& replay_;
  WayDown way_;
  size_t work_left_;
  size_t undo_work_;  // of it, for one target
  Replay::Drops drops_;
  Replay::Drops kept_;  // that undo() left for the last target
  size_t most_execs_;
  int64_t lowest_;
  Replay::Drops at_lowest_;
  std::vector<Replay::Idle> idle_;
};

}  // namespace plimsoll
