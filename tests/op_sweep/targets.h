// Highway's targets, forced in turn.
#pragma once

#include <hwy/targets.h>

#include <cstdint>

namespace plimsoll::testing {

inline void choose_targets(int64_t targets) {
  hwy::SetSupportedTargetsForTest(targets);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

struct RestoreTargets {
  ~RestoreTargets() { choose_targets(0); }
};

// The one that runs unless another is chosen: of the bits, lower ones are better.
inline int64_t best_target() {
  int64_t best = 0;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (best == 0 || target < best) best = target;
  }
  return best;
}

}  // namespace plimsoll::testing
