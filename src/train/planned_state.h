// PlannedState: while one lives, state that make_state() makes on this thread takes addresses but no memory,
// and is not charged: a step is being planned, not run.
#pragma once

namespace plimsoll {

class PlannedState {
 public:
  PlannedState();
  ~PlannedState();
  PlannedState(const PlannedState&) = delete;
  PlannedState& operator=(const PlannedState&) = delete;
  static bool active();

 private:
  bool before_;
};

}  // namespace plimsoll
