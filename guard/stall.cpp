#include "guard/stall.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "common/bytes.h"

namespace plimsoll::guard {

namespace {

constexpr double kIdleShare = 0.03, kBusyShare = 0.5;
constexpr double kPressure = 30, kFaultsPerSecond = 200;
constexpr int64_t kMovesBytes = 1 << 20;

struct Rates {
  double seconds = 1, cpu = 0, faults = 0, pressure = 0;
  double child_cpu = 0;
  bool children_work = false;
  int64_t io = 0, memory_moved = 0;
};

Rates rates_of(const std::deque<StallReading>& readings) {
  Rates r;
  const StallReading& first = readings.front();
  const StallReading& last = readings.back();
  r.seconds = std::max(1e-3, last.time - first.time);
  r.cpu = (last.cpu - first.cpu) / r.seconds;
  r.child_cpu = (last.child_cpu - first.child_cpu) / r.seconds;
  r.faults = static_cast<double>(last.major_faults - first.major_faults) / r.seconds;
  r.io = last.io_bytes - first.io_bytes;
  const auto running =
      std::count_if(readings.begin(), readings.end(), [](auto& x) { return x.child_running; });
  r.children_work = r.child_cpu > kIdleShare || 2 * running > static_cast<ptrdiff_t>(readings.size());
  for (const auto& reading : readings) {
    r.pressure = std::max(r.pressure, reading.memory_pressure);
    r.memory_moved = std::max(r.memory_moved, std::abs(reading.resident - first.resident));
  }
  return r;
}

bool all_equal(const std::vector<std::string>& marks) {
  return marks.size() >= 3 && std::all_of(marks.begin(), marks.end(), [&](auto& m) { return m == marks[0]; });
}

// A loop that counts or computes changes some variable; one that waits for a flag or the clock changes none.
bool no_value_changes(std::vector<std::string> values) {
  values.erase(std::remove(values.begin(), values.end(), std::string()),
               values.end());  // an answer may come late
  return values.size() >= 2 &&
         std::all_of(values.begin(), values.end(), [&](auto& v) { return v == values[0]; });
}

// The main thread mostly does one thing; a reading may fall between two waits.
Doing usual(const std::deque<StallReading>& readings) {
  int counts[6] = {};
  for (const auto& r : readings) ++counts[static_cast<int>(r.doing)];
  return static_cast<Doing>(std::max_element(counts, counts + 6) - counts);
}

StallVerdict idle_verdict(const std::deque<StallReading>& readings, const Rates& r) {
  const bool others = readings.back().others_wait_for_io;
  switch (usual(readings)) {
    case Doing::lock:
      if (others)
        return {StallKind::waiting_for_io, "the main thread waits for another thread, and that one for data"};
      return {StallKind::deadlocked, fmt::format("the main thread waits for a lock and nothing runs that "
                                                 "could release it ({:.1f} % CPU in {:.0f} s)",
                                                 100 * r.cpu, r.seconds)};
    case Doing::sleep: return {StallKind::sleeping, "it sleeps, as the program asked"};
    case Doing::disk: return {StallKind::waiting_for_io, "it waits for a disk or a network file system"};
    case Doing::io:
      return {StallKind::waiting_for_io, "it waits for a network connection, a pipe or a child process"};
    default: return {StallKind::waiting_for_io, "it uses no processor time and waits for something outside"};
  }
}

}  // namespace

const char* name_of(StallKind kind) {
  constexpr const char* kNames[] = {"working",           "slow",           "spinning",
                                    "deadlocked",        "memory-stalled", "waiting on I/O",
                                    "waiting for input", "sleeping",       "GPU hang"};
  return kNames[static_cast<size_t>(kind)];
}

StallVerdict judge_stall(const std::deque<StallReading>& readings, bool waiting_for_input,
                         const StallStacks& python) {
  if (waiting_for_input) return {StallKind::waiting_for_input, "it waits for you to type something"};
  if (readings.size() < 3) return {};
  const Rates r = rates_of(readings);
  if (r.cpu < kBusyShare && (r.faults > kFaultsPerSecond || r.pressure > kPressure)) {
    return {StallKind::memory_stalled, fmt::format("it waits for memory: {:.0f} pages a second from disk, "
                                                   "{:.0f} % of the time lost to memory pressure",
                                                   r.faults, r.pressure)};
  }
  const bool moves = r.io > kMovesBytes || r.memory_moved > kMovesBytes || r.children_work;
  const bool same_place = all_equal(python.stacks);
  if (readings.back().gpu_in_use && same_place && !python.in_interpreter && !moves) {
    return {StallKind::gpu_hang,
            fmt::format("it has waited for the GPU at the same line for {:.0f} s", r.seconds)};
  }
  if (r.cpu < kIdleShare && !r.children_work && r.io <= kMovesBytes) return idle_verdict(readings, r);
  // On a loaded machine a busy thread gets little of the processor, but it is always found ready to run.
  if (usual(readings) == Doing::running && same_place && python.in_interpreter &&
      no_value_changes(python.values) && !moves) {
    return {StallKind::spinning,
            fmt::format(
                "one line of Python runs over and over, and nothing else changes ({:.0f} % CPU in {:.0f} s)",
                100 * r.cpu, r.seconds)};
  }
  return {StallKind::slow,
          fmt::format("it works: {:.0f} % CPU, {} read and written, memory moved by {}",
                      100 * (r.cpu + r.child_cpu), bytes_text(r.io), bytes_text(r.memory_moved))};
}

}  // namespace plimsoll::guard
