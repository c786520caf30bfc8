// Whether a process and its descendants wait for none but one another.
#pragma once

#include <sys/types.h>

#include <set>
#include <string>

namespace plimsoll::guard {

// Where every thread waits, without a time limit, for a lock, for the end of a descendant or for a pipe that
// no process beside these has open, nothing can ever come: returns that as a sentence. Empty if somebody
// runs, sleeps, or waits for what may come from outside. `own` are threads of the kernel's machinery, as in
// take_reading(). Reads the descriptors of all processes: for once in a while.
std::string waits_in_a_ring(pid_t pid, const std::set<pid_t>& own);

}  // namespace plimsoll::guard
