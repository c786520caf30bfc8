#include "exec/stall_watch.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "common/bytes.h"
#include "common/log.h"
#include "memory/readings.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::milliseconds kPeriod{1000};
constexpr size_t kMostThreads = 64;  // named in a report

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

// /proc/<pid>/task/<tid>/stat: "17 (a name) S ..."; the name may hold anything.
std::optional<ThreadReading> parse_stat(const std::string& line) {
  const size_t open = line.find('('), close = line.rfind(')');
  if (open == line.npos || close == line.npos || close + 2 >= line.size()) return std::nullopt;
  return ThreadReading{std::atoll(line.c_str()), line.substr(open + 1, close - open - 1), line[close + 2]};
}

std::vector<ThreadReading> read_threads(int64_t self) {
  std::vector<ThreadReading> threads;
  std::error_code error;
  for (fs::directory_iterator at("/proc/self/task", error), end;
       !error && at != end && threads.size() < kMostThreads; at.increment(error)) {
    const auto thread = parse_stat(first_line(at->path() / "stat"));
    if (thread && thread->id != self) threads.push_back(*thread);
  }
  return threads;
}

std::string memory_pressure() {
  std::string text = "memory: ";
  if (const auto system = readings::system())
    text += concat(bytes_text(system->available), " of ", bytes_text(system->total), " available, swap ",
                   bytes_text(system->swap_total - system->swap_free), " of ", bytes_text(system->swap_total),
                   " used");
  if (const auto process = readings::process())
    text += concat("; this process: ", bytes_text(process->resident), " resident, ",
                   bytes_text(process->swapped), " swapped");
  const std::string pressure = first_line("/proc/pressure/memory");
  return pressure.empty() ? text : text + "; pressure " + pressure;
}

// Signals belong to the threads of the application.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &old_, nullptr); }

 private:
  sigset_t old_;
};

int64_t thread_id() {
#ifdef __linux__
  return ::syscall(SYS_gettid);
#else
  return 0;
#endif
}

}  // namespace

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

StallReading read_stall(int64_t self) {
  StallReading r{.now = steady_seconds(), .threads = read_threads(self), .memory = memory_pressure()};
  timespec t = {};
  if (::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0)
    r.processor = static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
  return r;
}

StallWatch::StallWatch(Activity& activity, const StallOptions& options, bool raise)
    : judge_(activity, options), raise_(raise), process_(::getpid()) {
  const SignalsBlocked blocked;
  try {
    thread_ = std::thread([this] { watch(); });
  } catch (const std::system_error& e) {
    log(LogLevel::info, "fit", "no thread to watch for stalls: ", e.what());
  }
}

StallWatch::~StallWatch() {
  if (!thread_.joinable()) return;
  if (::getpid() != process_) {  // the thread is the parent's: it may hold the mutex there, and waits
    thread_.detach();
    (void)signals_.release();
    return;
  }
  {
    const std::lock_guard lock(signals_->mutex);
    stop_ = true;
  }
  signals_->changed.notify_one();
  thread_.join();
}

void StallWatch::watch() noexcept {
  const int64_t self = thread_id();
  std::unique_lock lock(signals_->mutex);
  while (!signals_->changed.wait_for(lock, kPeriod, [&] { return stop_; })) {
    const double now = steady_seconds();
    if (judge_.moved(now) && !judge_.late(now)) continue;
    try {
      if (const auto report = judge_.look(read_stall(self))) take(*report);
    } catch (const std::exception& e) {
      log(LogLevel::info, "fit", "the stall watch could not look: ", e.what());
    }
  }
}

void StallWatch::take(const StallReport& report) {
  warn("fit", report.str());
  if (!raise_) return;
  report_ = report;
  due_.store(true, std::memory_order_relaxed);
}

void StallWatch::raise_now() {
  const std::lock_guard lock(signals_->mutex);
  due_ = false;
  throw StallError(*report_);
}

}  // namespace plimsoll
