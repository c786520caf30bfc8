// resident: what the system counts for this process and no Buffer, Arena or Charge stands for: pages of the
// engine's code and of oneDNN's, stacks of its threads, free blocks it keeps. Charged as Owner::process,
// which is how the process's line bounds what the system counts (docs/decisions/0052). Measured when a line
// is drawn, when something is planned under it, and between steps; never without one. Any thread.
#pragma once

#include <cstdint>

namespace plimsoll::resident {

struct Parts {
  int64_t images = 0;   // pages in memory of the engine's files: code, tables, relocated pointers
  int64_t threads = 0;  // stacks of the engine's threads
  int64_t pool = 0;     // free blocks of small buffers
  int64_t rest = 0;     // of a process that counts as a whole: all that nobody else has
  int64_t sum() const { return images + threads + pool + rest; }
};
Parts parts(int64_t untouched = 0);

// Owner::process becomes what is measured now, and 2 MiB for code that a first step will still bring in.
// `keep`: what it is, or what is measured now if that is more. `untouched`: of what is charged, in no memory
// yet.
void settle(bool keep = false, int64_t untouched = 0);
// The same if it has never been done.
void ensure();

// The engine's own program: everything in the process counts. Before anything is taken.
void count_whole_process();
// What that was last measured as; 0 where the process does not count as a whole.
int64_t whole_process() noexcept;

// The system's highest count of the process, where all of it counts and if it has risen since forget_peak(),
// which drawing a line does too; else 0.
int64_t new_peak();
void forget_peak();

// How much more the next measurement may find though nothing was taken: who catches an exception brings in
// code on the way, ours and the C++ library's. At most 0.5 MB were seen (docs/decisions/0075).
inline constexpr int64_t kNoise = 1 << 20;

// A thread of the engine has begun, or ended.
void add_thread() noexcept;
void remove_thread() noexcept;

}  // namespace plimsoll::resident
