// Whether a frame may get on though none of its variables shows it. The interpreter's lock must be held;
// nothing here runs bytecode.
#pragma once

#include "guard/gate/python_api.h"

namespace plimsoll::gate {

// True if it is in a `for` loop, whose iterator moves on, or uses an object whose state is out of sight: a
// generator of random numbers, a file, an array. False where that cannot be told.
bool may_progress_unseen(Object frame);

}  // namespace plimsoll::gate
