#include "train/planned_state.h"

namespace plimsoll {
namespace {

thread_local bool planned = false;

}  // namespace

PlannedState::PlannedState() : before_(planned) { planned = true; }
PlannedState::~PlannedState() { planned = before_; }
bool PlannedState::active() { return planned; }

}  // namespace plimsoll
