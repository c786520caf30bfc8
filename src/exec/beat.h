// Beat: the sign of life of the Programs that one thread runs. The executor says before each kernel which it
// is, with one relaxed store; who watches reads it from another thread. A thread that nobody watches has a
// Beat that nobody reads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

namespace plimsoll {

class Steps;

// Takes the times of kernels, on the thread that runs them. Must not throw.
class KernelRecorder {
 public:
  using Clock = std::chrono::steady_clock;
  virtual ~KernelRecorder() = default;
  // False: this run is not to be recorded.
  virtual bool begin_run(const Steps& steps) noexcept = 0;
  virtual void kernel(size_t step, Clock::time_point begin, Clock::time_point end) noexcept = 0;
  virtual void end_run() noexcept {}
};

class Beat {
 public:
  constexpr Beat() = default;
  Beat(const Beat&) = delete;
  Beat& operator=(const Beat&) = delete;

  static Beat& current() noexcept;

  // Written by the thread that runs.
  std::atomic<uint32_t> step{0};   // of the Program
  std::atomic<uint32_t> inner{0};  // of a sub-graph inside this step
  std::atomic<uint64_t> runs{0};   // that have begun
  KernelRecorder* recorder = nullptr;

  // While one lives, `steps` is what runs. Costs a lock where someone watches, else nothing.
  class Run {
   public:
    explicit Run(const Steps& steps) noexcept;
    ~Run();
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

   private:
    Beat& beat_;
    const Steps* outer_;
  };
  // From another thread: f(steps, step) if a Program runs; it does not end meanwhile.
  template <class F>
  void look(const F& f) {
    const std::lock_guard lock(mutex_);
    if (running_ != nullptr) f(*running_, step.load(std::memory_order_relaxed));
  }

 private:
  friend class BeatScope;
  bool watched_ = false;
  std::mutex mutex_;  // of running_
  const Steps* running_ = nullptr;
};

// This thread's Programs beat here while this lives.
class BeatScope {
 public:
  explicit BeatScope(Beat& beat) noexcept;
  ~BeatScope();
  BeatScope(const BeatScope&) = delete;
  BeatScope& operator=(const BeatScope&) = delete;

 private:
  Beat* before_;
};

}  // namespace plimsoll
