// KernelGuard is the program behind a guarded kernelspec: it owns the sockets, the kernel's process and
// the loop between them, and ends when a client shuts the kernel down.
#pragma once

#include "guard/options.h"

namespace plimsoll::guard {

// Runs until shutdown; returns the exit status. Throws Error if it cannot begin.
int guard_kernel(const GuardOptions& options);

}  // namespace plimsoll::guard
