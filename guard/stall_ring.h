// Whether a process and its descendants wait for none but one another.
#pragma once

#include <sys/types.h>

#include <set>
#include <string>

#include "guard/stall.h"

namespace plimsoll::guard {

// What belongs to the kernel's machinery and not to the program: its threads, as in take_reading(), and its
// open files.
struct Own {
  std::set<pid_t> threads;
  std::set<std::string> files;  // "57 socket:[4711]"
};
std::set<std::string> open_files(pid_t pid);

// How the main thread has been seen to wait: in one call, by polls with a limit that are begun again, or in
// its event loop. One that is found otherwise has gone on; its cell may have ended.
enum class MainWaits { in_a_call, by_polls, in_its_loop };

// Where every thread waits, without a time limit, for a lock, for the end of a descendant, or for a pipe or a
// connection that no process beside these has an end of, nothing can ever come: a deadlock. An event loop is
// such a thread if it has no timer and watches nothing but these and the kernel's own files. If one of them
// sleeps meanwhile, what the main thread waits for comes later: sleeping; if one runs: slow. Else `working`:
// something may come from outside. Reads the descriptors of all processes: for once in a while.
StallVerdict waits_in_a_ring(pid_t pid, const Own& own, MainWaits main = MainWaits::in_a_call);

}  // namespace plimsoll::guard
