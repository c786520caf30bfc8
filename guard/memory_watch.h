// Memory of a process and its descendants over time. One thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <vector>

namespace plimsoll::guard {

struct MemorySample {
  double time = 0;        // seconds of the monotonic clock
  int64_t resident = 0;   // kernel and descendants, bytes; pages shared among them once, those of files not
  int64_t rest = 0;       // the descendants' part
  int64_t available = 0;  // of the machine
};

// Direct and indirect children of `pid`, as far as they can be seen.
std::vector<pid_t> descendants(pid_t pid);

class MemoryWatch {
 public:
  // Reads process `pid` and, once a second at most, its descendants; keeps the last minute.
  void read(pid_t pid, double now);
  void clear() { samples_.clear(); }
  const std::deque<MemorySample>& samples() const { return samples_; }
  int64_t resident() const { return samples_.empty() ? 0 : samples_.back().resident; }
  int64_t rest() const { return rest_; }
  int64_t peak() const;
  // Bytes per second over the last five seconds.
  double growth() const;

 private:
  void read_rest(pid_t pid, int64_t own, double now);
  std::deque<MemorySample> samples_;
  int64_t rest_ = 0;
  double rest_at_ = -1e9, rest_cost_ = 0;
};

}  // namespace plimsoll::guard
