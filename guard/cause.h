// From the traces a dead process left to the cause of its death. Pure: all that is known goes in, the verdict
// comes out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "guard/gate_page.h"
#include "guard/memory_watch.h"

namespace plimsoll::guard {

enum class Cause {
  memory_line,
  cgroup_oom,
  host_oom,
  bad_alloc,
  outside_kill,
  terminated,
  segfault,
  stack_overflow,
  illegal_instruction,
  bus_error,
  arithmetic,
  failed_check,
  duplicate_openmp,
  aborted,
  exited,
  startup_crash,
  stall_timeout,
};
// "memory_line", "cgroup_oom", …: as reports have it.
const char* name_of(Cause cause);
bool is_memory(Cause cause);

struct Evidence {
  int wait_status = 0;
  bool at_start = false;    // died before it could answer
  std::string start_error;  // the program could not be run at all
  std::string last_words;   // what it wrote to stderr since the cell began
  std::string stacks;       // Python's, as asked for at the fault
  double time = 0;          // of death, seconds of the monotonic clock
  int pid = 0;
  bool gate_attached = false;
  std::vector<Refusal> refusals;  // since the cell began
  std::vector<Fault> faults;
  std::vector<MemorySample> samples;
  int64_t line = 0;
  int64_t leaf_limit = 0;      // 0: no leaf
  int64_t leaf_oom_kills = 0;  // since the kernel started
  int64_t leaf_limit_hits = 0;
  int64_t group_oom_kills = 0;   // in the guard's own control group, in the last seconds
  int64_t system_oom_kills = 0;  // on the whole machine, in the last seconds
  std::string kernel_log;        // line about this process, if it can be read
  bool kernel_log_read = false;  // it was read, and would name this process if the system had killed it
  std::string cpu_features;      // flags of this machine's processor
  std::string stall;             // the guard itself ended it, as asked: what it had seen; else empty
};

struct Verdict {
  Cause cause = Cause::exited;
  bool certain = true;
  std::string title;                  // one line: what killed it
  std::vector<std::string> evidence;  // what that rests on
  std::vector<std::string> advice;    // what to do
};

Verdict judge(const Evidence& evidence);

}  // namespace plimsoll::guard
