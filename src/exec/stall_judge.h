// StallJudge: says from readings whether training has stalled. It has no clock and no thread: StallWatch
// feeds it, and tests do.
//
// Time counts against what is watched only if it could have been used: while all of our threads wait, the
// seconds that passed; while one of them wants a processor, those of processor time that a step has had. So a
// machine that is busy with others makes training slow, not stalled, and a reader or a callback that works is
// left alone.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exec/beat.h"
#include "plimsoll/watch.h"

namespace plimsoll {

// What the thread of a fit() is about. Written by it alone, read by the watch.
class Activity {
 public:
  enum class Doing : uint8_t { preparing, data, step, callbacks, validation };
  static constexpr size_t kDoings = 5;

  Beat beat;

  // `now`: seconds of a clock that only goes forward.
  void begin(Doing doing, double now) noexcept;
  // What a step was expected to take and took, for the first ones.
  void calibrate(double expected, double took) noexcept;

  Doing doing() const noexcept { return doing_.load(std::memory_order_relaxed); }
  uint64_t changes() const noexcept { return changes_.load(std::memory_order_relaxed); }
  double since() const noexcept { return since_.load(std::memory_order_relaxed); }
  double longest(Doing doing) const noexcept {
    return longest_[static_cast<size_t>(doing)].load(std::memory_order_relaxed);
  }
  // How much longer a step takes than the plan expects; 0: not known yet.
  double slower() const noexcept { return slower_.load(std::memory_order_relaxed); }

 private:
  std::atomic<Doing> doing_{Doing::preparing};
  std::atomic<uint64_t> changes_{0};
  std::atomic<double> since_{0}, slower_{0};
  std::array<std::atomic<double>, kDoings> longest_{};
};

struct ThreadReading {
  int64_t id = 0;
  std::string name;
  char state = '?';  // as in /proc: R runs or wants to, S sleeps, D waits for a disk or memory
};
struct StallReading {
  double now = 0;                           // seconds
  double processor = 0;                     // seconds that the process has had
  std::vector<ThreadReading> threads = {};  // without the watch's own
  std::string memory = {};                  // pressure and swap, for people
};

struct StallOptions {
  double least = 60;    // seconds that are no stall, whatever is expected
  double deadline = 0;  // seconds for a step; 0: none
};

class StallJudge {
 public:
  StallJudge(Activity& activity, const StallOptions& options) : activity_(activity), options_(options) {}

  // Whether there was a sign of life since the last call.
  bool moved(double now);
  // Whether the step is over its deadline, and nobody has been told.
  bool late(double now) const;
  // To be called when there was none, or it is late: a report, once for each stall and each such step.
  std::optional<StallReport> look(const StallReading& reading);

 private:
  struct Signs {
    uint64_t changes = 0, runs = 0;
    uint32_t step = 0, inner = 0;
    bool operator==(const Signs&) const = default;
  };
  Signs signs() const;
  double allowed();
  StallReport report(const StallReading& reading, double allowed) const;

  Activity& activity_;
  StallOptions options_;
  Signs last_;
  double moved_at_ = 0, counted_ = 0;
  std::optional<StallReading> before_;
  bool known_ = false, said_ = false;
  uint64_t late_step_ = 0;  // changes() of the step that was reported as late
};

}  // namespace plimsoll
