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

// What would stay if the system needed room: pages of files can be dropped and read again.
int64_t held(pid_t pid, int64_t resident) {
  const std::string text = read_file("/proc/" + std::to_string(pid) + "/status").value_or("");
  const auto anonymous = readings::parse::field(text, "RssAnon");
  return anonymous ? *anonymous + readings::parse::field(text, "RssShmem").value_or(0) : resident;
}

// The same, pages that processes share counted in parts.
int64_t part_of(pid_t pid) {
  const std::string text = read_file("/proc/" + std::to_string(pid) + "/smaps_rollup").value_or("");
  const auto anonymous = readings::parse::field(text, "Pss_Anon");  // from Linux 5.4 on
  if (!anonymous) return readings::proportional(pid).value_or(0);
  return *anonymous + readings::parse::field(text, "Pss_Shmem").value_or(0);
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
  const int64_t own = held(pid, process->resident);
  read_rest(pid, own, now);
  const auto system = readings::system();
  samples_.push_back({now, own + rest_, rest_, system ? system->available : 0});
  while (!samples_.empty() && samples_.front().time < now - kMinute) samples_.pop_front();
}

void MemoryWatch::read_rest(pid_t pid, int64_t own, double now) {
  if (now - rest_at_ < std::max(kRestEvery, kRestShare * rest_cost_)) return;
  rest_at_ = now;
  const double begin = clock_seconds();
  const auto children = descendants(pid);
  int64_t sum = 0;
  for (pid_t child : children) sum += part_of(child);
  // What a fork shares with the kernel has been counted with the kernel.
  rest_ = children.empty() ? 0 : std::max<int64_t>(0, part_of(pid) + sum - own);
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
