// Why a cell gives no sign of life. Readings of the process come in once a second, a verdict comes out;
// nothing is ever ended here. The judgement is pure; take_reading() looks at /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace plimsoll::guard {

// What a thread was doing when it was looked at. `timed_lock` and `timed_poll` are waits with a time limit,
// `child` is one for a process or its output, `poll` one for several things.
// `file_lock` is one for a lock on a file, `signal` one for a signal.
enum class Doing {
  running,
  lock,
  timed_lock,
  sleep,
  io,
  child,
  poll,
  timed_poll,
  disk,
  stopped,
  file_lock,
  signal,
  other
};
inline constexpr int kDoings = 13;

// What a thread has used so far.
struct ThreadUse {
  double cpu = 0;     // seconds
  int64_t wakes = 0;  // times that it has waited
};

// The process's own alarm clock (setitimer, alarm): it will ring once, or over and over.
enum class Alarm { none, once, repeated };

struct StallReading {
  double time = 0;              // seconds of the monotonic clock
  double cpu = 0;               // seconds used so far, all threads
  double child_cpu = 0;         // the same of all descendants, those that have ended too
  bool others_running = false;  // some other thread runs, or would if the machine let it
  bool child_running = false;   // some descendant runs, or would if the machine let it
  Doing doing = Doing::other;   // the main thread
  int64_t wakes = 0;            // times that the main thread has waited so far
  bool has_timer = false;       // it polls, and its event loop will wake by itself; or a signal will come
  Alarm alarm = Alarm::none;
  std::string stopped_child;        // "4711 (ffmpeg)", a descendant that was stopped
  std::string lock_holder;          // the same of who holds the file lock that is waited for
  bool others_wait_for_io = false;  // some other thread waits for a socket or a disk
  bool others_poll = false;         // or for one of several things, or a pipe
  // Who sleeps, and how often each has waited so far.
  std::map<pid_t, int64_t> sleeping_threads, sleeping_children;
  double longest_nap = 0;  // seconds that one of these threads sleeps at a time, or what is left of them
  std::map<pid_t, int64_t> timed_threads;      // the same of other threads that wait with a time limit
  std::map<pid_t, ThreadUse> running_threads;  // other threads that run, or would
  pid_t asks_for_lock = 0;  // the gate's thread that waits for the interpreter's lock, if it does
  int64_t io_bytes = 0;     // read and written so far
  int64_t major_faults = 0;
  int64_t resident = 0;
  double memory_pressure = 0;  // percent of time that all tasks waited for memory (PSI full, avg10)
  bool gpu_in_use = false;     // a GPU's device file is open
};

enum class StallKind {
  working,
  slow,
  spinning,
  deadlocked,
  memory_stalled,
  waiting_for_io,
  waiting_for_input,
  sleeping,
  gpu_hang,
  stopped
};
const char* name_of(StallKind kind);

struct StallVerdict {
  StallKind kind = StallKind::working;
  std::string text;          // one sentence with the numbers
  bool may_be_ring = false;  // left alone, unless it waits for none but its own (stall_ring.h)
};

// What a Python kernel told of its cell when asked. Innermost first.
struct StallSample {
  std::vector<std::string> frames;
  std::vector<std::string> marks;  // of the variables in the innermost frames; may be fewer, or none
  bool bytecode = false;           // it ran bytecode, not native code
  bool keeps_lock = false;         // native code kept the interpreter's lock
  bool one_call = false;           // the same call of native code since the sample before
  bool awaits_alone = false;       // a coroutine, and no other task is there
  bool awaits_thread = false;      // a coroutine that waits for a thread of an executor
  bool workers_end = false;        // those of its pool have ended since the sample before
  std::vector<bool> unseen = {};   // for each mark: the frame may get on without a variable that shows it
};
// A second or more apart, oldest first; the last ones only. Empty for other kernels.
using StallSamples = std::deque<StallSample>;

// Judges the readings since the cell last showed a sign of life, oldest first.
StallVerdict judge_stall(const std::deque<StallReading>& readings, bool waiting_for_input,
                         const StallSamples& python);

// Nothing if the process cannot be read. `own` are threads of the kernel's machinery, which wait all the time
// and tell nothing.
std::optional<StallReading> take_reading(pid_t pid, double now, const std::set<pid_t>& own);

}  // namespace plimsoll::guard
