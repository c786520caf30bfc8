#include "guard/memory_watch.h"

#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "guard/files.h"
#include "memory/readings.h"

namespace plimsoll::guard {

namespace {

constexpr double kMinute = 60;
constexpr double kRestEvery = 1;
// Reading shared pages makes the kernel walk page tables; it may take a fiftieth of the time.
constexpr double kRestShare = 50;

double clock_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

std::vector<pid_t> descendants(pid_t pid) {
  std::vector<pid_t> found = {pid};
  for (size_t i = 0; i < found.size() && found.size() < 4096; ++i) {
    std::error_code error;
    const std::filesystem::path tasks = "/proc/" + std::to_string(found[i]) + "/task";
    for (const auto& task : std::filesystem::directory_iterator(tasks, error)) {
      const std::string text = read_file(task.path() / "children").value_or("");
      for (const char* at = text.c_str(); *at;) {
        char* end = nullptr;
        const long child = std::strtol(at, &end, 10);
        if (end == at) break;
        if (child > 0) found.push_back(static_cast<pid_t>(child));
        at = end;
      }
    }
  }
  found.erase(found.begin());
  return found;
}

void MemoryWatch::read(pid_t pid, double now) {
  const auto process = readings::process(pid);
  if (!process) return;
  read_rest(pid, now);
  const auto system = readings::system();
  samples_.push_back({now, process->resident + rest_, rest_, system ? system->available : 0});
  while (!samples_.empty() && samples_.front().time < now - kMinute) samples_.pop_front();
}

void MemoryWatch::read_rest(pid_t pid, double now) {
  if (now - rest_at_ < std::max(kRestEvery, kRestShare * rest_cost_)) return;
  rest_at_ = now;
  const double begin = clock_seconds();
  int64_t sum = 0;
  for (pid_t child : descendants(pid)) sum += readings::proportional(child).value_or(0);
  rest_ = sum;
  rest_cost_ = clock_seconds() - begin;
}

int64_t MemoryWatch::peak() const {
  int64_t most = 0;
  for (const auto& s : samples_) most = std::max(most, s.resident);
  return most;
}

double MemoryWatch::growth() const {
  if (samples_.size() < 2) return 0;
  const MemorySample& last = samples_.back();
  const MemorySample* first = &last;
  for (auto s = samples_.rbegin(); s != samples_.rend() && last.time - s->time <= 5; ++s) first = &*s;
  const double seconds = last.time - first->time;
  return seconds > 0 ? static_cast<double>(last.resident - first->resident) / seconds : 0;
}

}  // namespace plimsoll::guard
