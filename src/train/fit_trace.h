// FitTrace: what a fit() did when, as a file in Chrome's trace format, which ui.perfetto.dev and
// chrome://tracing open: epochs, steps and waits, the kernels of some steps on their threads, and memory by
// owner. Bounded in memory: what comes when it is full is counted and left out. For the thread that made it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "exec/beat.h"
#include "memory/charge.h"

namespace plimsoll {

class FitTrace final : public KernelRecorder {
 public:
  // Throws Error{io} if there can be no file at `path`.
  explicit FitTrace(std::filesystem::path path);
  ~FitTrace() override;

  // A stretch of this thread's time. They nest.
  void add(std::string_view name, Clock::time_point begin, Clock::time_point end) noexcept;
  // What each owner holds now.
  void count_memory() noexcept;
  bool begin_run(const Steps& steps) noexcept override;
  void kernel(size_t step, Clock::time_point begin, Clock::time_point end) noexcept override;
  void end_run() noexcept override;

  std::string json() const;
  // Writes the file. Throws Error{io}.
  void write() const;

 private:
  struct Event {
    int64_t begin, length;  // ns; of counters the length is the value
    uint32_t name;
    uint16_t thread;  // 0: this one; else the worker; kCounter: a counter
  };
  // A Program whose kernels are recorded.
  struct Recorded {
    std::vector<uint32_t> names;  // by step
    std::vector<int64_t> live;    // bytes in the arena, by step
    int runs = 0;
  };
  uint32_t id_of(const std::string& name);
  bool room(size_t events) noexcept;
  void put(const Event& e) noexcept;
  int64_t since_start(Clock::time_point t) const;

  std::filesystem::path path_;
  Clock::time_point start_ = Clock::now();
  Charge charge_;
  std::vector<Event> events_;
  std::vector<std::string> names_;
  std::map<std::string, uint32_t, std::less<>> ids_;
  std::map<const Steps*, Recorded> recorded_;
  const Recorded* now_ = nullptr;  // whose kernels come
  Clock::time_point run_since_;
  size_t first_worker_event_;      // of those that workers note, the first of ours
  uint32_t in_use_ = 0, run_ = 0;  // names: of the counter of the arena, and of a run
  int64_t left_out_ = 0;
};

}  // namespace plimsoll
