// A script under guard, without Jupyter: the same line, verdict and report; its exit status is kept.
#pragma once

#include "guard/options.h"

namespace plimsoll::guard {

// Runs the command to its end with the guard's own stdin and stdout. Returns its exit status, 128 + n if
// signal n ended it. The note goes to stderr.
int guard_script(const GuardOptions& options);

}  // namespace plimsoll::guard
