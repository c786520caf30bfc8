// Readings for stall.h from /proc: what each thread is doing, by the system call it is in.
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>

#include "guard/files.h"
#include "guard/gate/page.h"
#include "guard/memory_watch.h"
#include "guard/stall.h"
#include "guard/system_call.h"
#include "memory/readings.h"

namespace plimsoll::guard {

namespace fs = std::filesystem;

namespace {

// Of poll() and its like: how many things are waited for, and whether there is a time limit.
struct Poll {
  bool nothing, timed;
};
std::optional<Poll> poll_of(const Call& call) {
  const auto& a = call.arguments;
#ifdef SYS_poll
  if (call.number == SYS_poll) return Poll{a[1] == 0, static_cast<int>(a[2]) >= 0};
  if (call.number == SYS_select) return Poll{a[0] == 0, a[4] != 0};
  if (call.number == SYS_epoll_wait) return Poll{false, false};  // an event loop has timers of its own
#endif
  if (call.number == SYS_ppoll) return Poll{a[1] == 0, a[2] != 0};
  if (call.number == SYS_pselect6) return Poll{a[0] == 0, a[4] != 0};
  if (call.number == SYS_epoll_pwait) return Poll{false, false};
  return std::nullopt;
}

bool reads_from_child(const Call& call, const fs::path& task) {
  if (call.number != SYS_read) return false;
  std::error_code error;
  const auto file = task.parent_path().parent_path() / "fd" / std::to_string(call.arguments[0]);
  const std::string target = fs::read_symlink(file, error).string();
  return target.rfind("pipe:", 0) == 0 || target.rfind("/dev/ptmx", 0) == 0 ||
         target.rfind("/dev/pts/", 0) == 0;
}

// Whether a clock that has been set will end the reading (timerfd).
bool reads_from_timer(const Call& call, const fs::path& task) {
  if (call.number != SYS_read) return false;
  const fs::path process = task.parent_path().parent_path();
  const std::string number = std::to_string(call.arguments[0]);
  std::error_code error;
  if (fs::read_symlink(process / "fd" / number, error) != "anon_inode:[timerfd]") return false;
  const std::string text = read_file(process / "fdinfo" / number).value_or("");
  return text.find("it_value:") != std::string::npos && text.find("it_value: (0, 0)") == std::string::npos;
}

// How long a thread sleeps, or, where it is told until when, what is left of that.
double nap_of(pid_t pid, const fs::path& task) {
  const Call call = read_call(task);
  const bool by_clock = call.number == SYS_clock_nanosleep;
  if (!by_clock && call.number != SYS_nanosleep) return 0;
  timespec wanted{}, now{};
  const iovec here{&wanted, sizeof wanted};
  const iovec there{reinterpret_cast<void*>(call.arguments[by_clock ? 2 : 0]), sizeof wanted};
  if (::process_vm_readv(pid, &here, 1, &there, 1, 0) != static_cast<ssize_t>(sizeof wanted)) return 0;
  const bool until = by_clock && (call.arguments[1] & TIMER_ABSTIME) != 0;
  if (until) ::clock_gettime(static_cast<clockid_t>(call.arguments[0]), &now);
  return static_cast<double>(wanted.tv_sec - now.tv_sec) +
         static_cast<double>(wanted.tv_nsec - now.tv_nsec) * 1e-9;
}

bool waits_for_file_lock(const Call& call) {
  constexpr uint64_t kSetLockWait = 7, kOpenSetLockWait = 38;  // F_SETLKW, F_OFD_SETLKW
  return call.number == SYS_flock || (call.number == SYS_fcntl && (call.arguments[1] == kSetLockWait ||
                                                                   call.arguments[1] == kOpenSetLockWait));
}

bool waits_for_signal(const Call& call) {
#ifdef SYS_pause
  if (call.number == SYS_pause) return true;
#endif
  return call.number == SYS_rt_sigsuspend || (call.number == SYS_rt_sigtimedwait && call.arguments[2] == 0);
}

Doing doing_in(const Call& call, const fs::path& task) {
  if (waits_for_file_lock(call)) return Doing::file_lock;
  if (waits_for_signal(call)) return Doing::signal;
  if (call.number == SYS_rt_sigtimedwait) return Doing::sleep;
  if (call.number == SYS_futex) return call.arguments[3] != 0 ? Doing::timed_lock : Doing::lock;
  if (call.is({SYS_nanosleep, SYS_clock_nanosleep})) return Doing::sleep;
  if (const auto poll = poll_of(call)) {
    if (poll->timed) return poll->nothing ? Doing::sleep : Doing::timed_poll;
    return Doing::poll;
  }
  if (reads_from_timer(call, task)) return Doing::sleep;
  const bool child = call.is({SYS_wait4, SYS_waitid}) || reads_from_child(call, task);
  return child ? Doing::child : Doing::io;
}

// Of the gate's threads only one that takes the interpreter's lock waits with a time limit in this way.
bool is_gates_and_asks(const fs::path& task) {
  const auto stat = read_stat(task);
  if (!stat || stat->name != gate::kThreadName || stat->state != 'S') return false;
  const Call call = read_call(task);
  return call.number == SYS_futex && call.arguments[3] != 0;
}

Doing doing_of(const fs::path& task) {
  const auto stat = read_stat(task);
  if (!stat || stat->name == gate::kThreadName) return Doing::other;
  if (stat->state == 'R') return Doing::running;
  if (stat->state == 'D') return Doing::disk;
  if (stat->state == 'T' || stat->state == 't') return Doing::stopped;
  const std::string text = read_file(task / "syscall").value_or("");
  if (text.empty() || text[0] < '0' || text[0] > '9')
    return text.rfind("running", 0) == 0 ? Doing::running : Doing::other;
  return doing_in(parse_call(text), task);
}

// Whether epoll_wait() has a time limit.
bool has_timer(const fs::path& task) {
  const Call call = read_call(task);
#ifdef SYS_epoll_wait
  if (call.number == SYS_epoll_wait) return static_cast<int>(call.arguments[3]) >= 0;
#endif
  return call.number == SYS_epoll_pwait && static_cast<int>(call.arguments[3]) >= 0;
}

std::string shown(pid_t pid) {
  const auto stat = read_stat("/proc/" + std::to_string(pid));
  return std::to_string(pid) + (stat ? " (" + stat->name + ")" : "");
}

// /proc/locks: "7: FLOCK ADVISORY WRITE 4711 ...", and who waits for it behind "7: -> FLOCK ADVISORY WRITE
// 4712".
std::string holder_of_lock(pid_t waiting) {
  std::istringstream lines(read_file("/proc/locks").value_or(""));
  std::map<std::string, pid_t> holders;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string number, kind, word;
    words >> number >> kind;
    const bool waits = kind == "->";
    if (waits) words >> kind;
    pid_t pid = 0;
    words >> word >> word >> pid;
    if (!waits) holders[number] = pid;
    if (waits && pid == waiting && holders[number] > 0) return shown(holders[number]);
  }
  return {};
}

int64_t wakes_of(const fs::path& task) {
  const std::string text = read_file(task / "status").value_or("");
  const size_t at = text.find("\nvoluntary_ctxt_switches:");
  return at == std::string::npos ? 0 : std::strtoll(text.c_str() + at + 25, nullptr, 10);
}

ThreadUse use_of(const fs::path& task) {
  const auto stat = read_stat(task);
  return {stat ? stat->cpu : 0, wakes_of(task)};
}

bool gpu_open(const fs::path& process) {
  std::error_code error;
  for (const auto& fd : fs::directory_iterator(process / "fd", error)) {
    const auto target = fs::read_symlink(fd.path(), error).string();
    if (target.rfind("/dev/nvidia", 0) == 0 || target.rfind("/dev/kfd", 0) == 0) return true;
  }
  return false;
}

}  // namespace

std::optional<StallReading> take_reading(pid_t pid, double now, const std::set<pid_t>& own) {
  using readings::parse::field;
  const fs::path process = "/proc/" + std::to_string(pid);
  const auto stat = read_stat(process);
  if (!stat) return std::nullopt;
  StallReading r;
  r.time = now;
  r.cpu = stat->cpu;
  r.major_faults = stat->major_faults;
  const fs::path main = process / "task" / std::to_string(pid);
  r.doing = doing_of(main);
  r.wakes = wakes_of(main);
  r.has_timer = (r.doing == Doing::poll && has_timer(main)) ||
                (r.doing == Doing::signal && !read_file(process / "timers").value_or("").empty());
  if (r.doing == Doing::file_lock) r.lock_holder = holder_of_lock(pid);
  if (const auto memory = readings::process(pid)) r.resident = memory->resident;
  const std::string io = read_file(process / "io").value_or("");
  r.io_bytes = field(io, "rchar").value_or(0) + field(io, "wchar").value_or(0);
  r.child_cpu = stat->ended_children_cpu;
  for (pid_t child : descendants(pid)) {
    const auto s = read_stat("/proc/" + std::to_string(child));
    if (!s) continue;
    r.child_cpu += s->cpu + s->ended_children_cpu;
    r.child_running = r.child_running || s->state == 'R';
    if (s->state == 'T' || s->state == 't') r.stopped_child = shown(child);
    const fs::path main = "/proc/" + std::to_string(child) + "/task/" + std::to_string(child);
    if (doing_of(main) == Doing::sleep) r.sleeping_children[child] = wakes_of(main);
  }
  std::error_code error;
  for (const auto& task : fs::directory_iterator(process / "task", error)) {
    const pid_t thread = std::atoi(task.path().filename().c_str());
    if (thread == pid || own.count(thread) != 0) continue;
    const Doing doing = doing_of(task.path());
    if (doing == Doing::sleep) {
      r.sleeping_threads[thread] = wakes_of(task.path());
      r.longest_nap = std::max(r.longest_nap, nap_of(pid, task.path()));
    }
    if (doing == Doing::timed_lock) r.timed_threads[thread] = wakes_of(task.path());
    if (doing == Doing::running) r.running_threads[thread] = use_of(task.path());
    if (doing == Doing::other && is_gates_and_asks(task.path())) r.asks_for_lock = thread;
    r.others_running = r.others_running || doing == Doing::running;
    r.others_wait_for_io = r.others_wait_for_io || doing == Doing::disk || doing == Doing::io;
    r.others_poll =
        r.others_poll || doing == Doing::poll || doing == Doing::timed_poll || doing == Doing::child;
  }
  const std::string pressure = read_file("/proc/pressure/memory").value_or("");
  const size_t full = pressure.find("full avg10=");
  if (full != std::string::npos) r.memory_pressure = std::strtod(pressure.c_str() + full + 11, nullptr);
  r.gpu_in_use = gpu_open(process);
  return r;
}

}  // namespace plimsoll::guard
