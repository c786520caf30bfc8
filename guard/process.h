// A child process with its own process group, its descriptors 1 and 2 in pipes that the guard reads, and
// limits set before it runs. It dies with the guard, and so does all of its group. One thread, the same for all
// calls: the system's "die with your parent" means the thread that made it.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "guard/group_watch.h"

namespace plimsoll::guard {

struct ProcessOptions {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // "NAME=value", all of it
  std::string cgroup_procs;              // file to write the child's pid to; empty: none
  int64_t data_limit = 0;                // RLIMIT_DATA in bytes; 0: as it is
  bool capture = true;                   // pipes for descriptors 1 and 2; else only for 2
  bool keep_stdin = false;               // else /dev/null
  int stack_fd = 0;                      // descriptor in the child for a third pipe; 0: none
  std::atomic<int32_t>* own_pid =
      nullptr;  // shared memory: the child's pid is there before it runs; null: none
};

class Process {
 public:
  // Throws Error{io} if the process or a pipe cannot be made, Error{not_found} if argv[0] cannot be run.
  static Process start(const ProcessOptions& options);
  Process() = default;
  ~Process();
  Process(Process&& other) noexcept { *this = std::move(other); }
  Process& operator=(Process&& other) noexcept;

  pid_t pid() const { return pid_; }
  // Pipe ends to poll, -1 if none or at their end.
  int out() const { return fds_[0]; }
  int err() const { return fds_[1]; }
  int stacks() const { return fds_[2]; }
  // Up to 64 KiB of what there is; empty if there is nothing now. Closes the pipe at its end.
  std::string read_out() { return read(fds_[0]); }
  std::string read_err() { return read(fds_[1]); }
  std::string read_stacks() { return read(fds_[2]); }

  // To the process and all of its group. Does nothing once it has been waited for.
  void signal_group(int signal);
  // The wait status once it has ended; does not block.
  std::optional<int> poll();
  // Ends what is left of its group.
  void kill_rest();

 private:
  static std::string read(int& fd);
  pid_t pid_ = 0, group_ = 0;
  GroupWatch watch_;  // keeps the group's number from being used again, too, once the process is gone
  int fds_[3] = {-1, -1, -1};
};

}  // namespace plimsoll::guard
