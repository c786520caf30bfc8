#include "guard/stall_ring.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>
#include <vector>

#include "guard/files.h"
#include "guard/gate/page.h"
#include "guard/memory_watch.h"
#include "guard/stall_sockets.h"
#include "guard/system_call.h"

namespace plimsoll::guard {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMostPolled = 1024, kMostShown = 3;

// What a process has open under a number: "pipe:[4711]".
std::string opened(const fs::path& process, uint64_t fd) {
  std::error_code error;
  return fs::read_symlink(process / "fd" / std::to_string(fd), error).string();
}

bool begins(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

std::vector<uint64_t> polled(pid_t pid, const Call& call) {
  const size_t count = std::min<size_t>(call.arguments[1], kMostPolled);
  std::vector<pollfd> list(count);
  const iovec here{list.data(), count * sizeof(pollfd)};
  const iovec there{reinterpret_cast<void*>(call.arguments[0]), count * sizeof(pollfd)};
  if (count == 0 || ::process_vm_readv(pid, &here, 1, &there, 1, 0) != static_cast<ssize_t>(here.iov_len))
    return {};
  std::vector<uint64_t> out;
  for (const pollfd& p : list) {
    if (p.fd >= 0) out.push_back(static_cast<uint64_t>(p.fd));
  }
  return out;
}

// What an event loop watches: lines "tfd:       12 events: ...".
std::vector<uint64_t> watched(const fs::path& process, uint64_t epoll) {
  std::istringstream lines(read_file(process / "fdinfo" / std::to_string(epoll)).value_or(""));
  std::vector<uint64_t> out;
  for (std::string line; std::getline(lines, line);) {
    if (begins(line, "tfd:")) out.push_back(std::strtoull(line.c_str() + 4, nullptr, 10));
  }
  return out;
}

enum class How { from_outside, of_its_own, sleeps, serves };

struct Wait {
  How how = How::from_outside;
  const char* what = "";
};

// One look at all of a program's processes.
struct Look {
  const Own& own;
  Sockets sockets;
  std::set<std::string> ends;  // pipes, and the other ends of connections, that are waited for
};

// Of files that are waited for: those that nobody outside can end the wait by are added to look.ends.
Wait wait_for_files(const fs::path& process, const std::vector<uint64_t>& fds, bool main, const char* what,
                    Look& look) {
  Wait wait{How::of_its_own, what};
  for (uint64_t fd : fds) {
    const std::string file = opened(process, fd);
    const auto peer = look.sockets.peers.find(file);
    if (begins(file, "pipe:")) {
      look.ends.insert(file);
    } else if (peer != look.sockets.peers.end()) {
      look.ends.insert(peer->second);
    } else if (!main && look.sockets.listening.count(file) != 0) {
      wait.how = How::serves;
    } else {
      return {};
    }
  }
  return fds.empty() ? Wait{} : wait;
}

// A loop that nothing but what is asked of the kernel itself could wake.
Wait wait_of_loop(const fs::path& process, const Call& call, Look& look) {
  std::vector<uint64_t> fds;
  for (uint64_t fd : watched(process, call.arguments[0])) {
    if (look.own.files.count(std::to_string(fd) + " " + opened(process, fd)) == 0) fds.push_back(fd);
  }
  constexpr const char* kWhat = "what no task, thread or connection of the program is left to bring about";
  return fds.empty() ? Wait{How::of_its_own, kWhat} : wait_for_files(process, fds, true, kWhat, look);
}

// Whether epoll_wait() has no time limit.
bool loops_for_ever(const Call& call) {
#ifdef SYS_epoll_wait
  if (call.number == SYS_epoll_wait) return static_cast<int>(call.arguments[3]) < 0;
#endif
  return call.number == SYS_epoll_pwait && static_cast<int>(call.arguments[3]) < 0;
}

// Whether poll() or ppoll() is waited in, with a limit or without.
bool polls(const Call& call, bool& limited) {
#ifdef SYS_poll
  if (call.number == SYS_poll) {
    limited = static_cast<int>(call.arguments[2]) >= 0;
    return true;
  }
#endif
  limited = call.arguments[2] != 0;
  return call.number == SYS_ppoll;
}

// What a thread waits for. What others than the main one do with a limit is not known, but that one serves.
Wait wait_of(pid_t pid, const fs::path& process, const fs::path& task, bool main, Look& look) {
  const Call call = read_call(task);
  const auto& a = call.arguments;
  bool limited = false;
  if (call.number == SYS_futex && a[3] == 0) return {How::of_its_own, "a lock"};
  if (call.is({SYS_wait4, SYS_waitid})) return {How::of_its_own, "the end of a process"};
  if (call.is({SYS_nanosleep, SYS_clock_nanosleep})) return {How::sleeps, ""};
  if (call.is({SYS_read, SYS_write, SYS_readv, SYS_writev})) {
    const bool pipe = begins(opened(process, a[0]), "pipe:");
    return wait_for_files(process, {a[0]}, main, pipe ? "a pipe" : "a connection", look);
  }
  if (call.is({SYS_recvfrom, SYS_recvmsg, SYS_sendto, SYS_sendmsg, SYS_accept, SYS_accept4}))
    return wait_for_files(process, {a[0]}, main, "a connection", look);
  if (polls(call, limited)) {
    if (limited && a[1] == 0) return {How::sleeps, ""};
    const Wait wait = wait_for_files(process, polled(pid, call), main, "a pipe", look);
    return limited && !main && wait.how != How::serves ? Wait{} : wait;
  }
  return main && loops_for_ever(call) ? wait_of_loop(process, call, look) : Wait{};
}

bool waits_as_seen(const fs::path& task, MainWaits main) {
  const Call call = read_call(task);
  bool limited = false;
  if (main == MainWaits::in_its_loop) return loops_for_ever(call);
  if (polls(call, limited)) return limited == (main == MainWaits::by_polls);
  return main == MainWaits::in_a_call && !loops_for_ever(call);
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// Whether a process that is not one of these has one of the ends open.
bool held_by_others(const std::set<std::string>& ends, const std::set<pid_t>& these) {
  if (ends.empty()) return false;
  std::error_code error;
  for (const auto& process : fs::directory_iterator("/proc", error)) {
    const std::string name = process.path().filename().string();
    if (!is_number(name) || these.count(std::atoi(name.c_str())) != 0) continue;
    std::error_code no_right;
    for (const auto& fd : fs::directory_iterator(process.path() / "fd", no_right)) {
      std::error_code gone;
      if (ends.count(fs::read_symlink(fd.path(), gone).string()) != 0) return true;
    }
  }
  return false;
}

}  // namespace

std::set<std::string> open_files(pid_t pid) {
  std::set<std::string> out;
  std::error_code error, gone;
  for (const auto& fd : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd", error))
    out.insert(fd.path().filename().string() + " " + fs::read_symlink(fd.path(), gone).string());
  return out;
}

StallVerdict waits_in_a_ring(pid_t pid, const Own& own, MainWaits main) {
  const std::vector<pid_t> children = descendants(pid);
  std::vector<pid_t> all = children;
  all.insert(all.begin(), pid);
  Look look{own, read_sockets(pid), {}};
  std::string text, first;
  size_t shown = 0, threads = 0;
  bool sleeps = false;
  for (pid_t member : all) {
    const fs::path process = "/proc/" + std::to_string(member);
    std::error_code error;
    for (const auto& task : fs::directory_iterator(process / "task", error)) {
      const pid_t thread = std::atoi(task.path().filename().c_str());
      const auto stat = read_stat(task.path());
      if ((own.threads.count(thread) != 0 && thread != pid) || !stat || stat->name == gate::kThreadName ||
          stat->state == 'Z')
        continue;
      // It may be about to do what is waited for.
      if (stat->state == 'R') return {StallKind::slow, "one of its threads or processes runs", false};
      if (stat->state != 'S') return {};
      if (thread == pid && !waits_as_seen(task.path(), main)) return {};
      const Wait wait = wait_of(member, process, task.path(), thread == pid, look);
      if (wait.how == How::from_outside) return {};
      sleeps = sleeps || wait.how == How::sleeps;
      ++threads;
      if (thread == pid) first = wait.what;
      if (wait.how == How::of_its_own && thread == member && member != pid && ++shown <= kMostShown)
        text += ", process " + std::to_string(member) + " (" + stat->name + ") for " + wait.what;
    }
  }
  if (descendants(pid) != children) return {StallKind::slow, "processes come and go", false};
  if (first.empty() || held_by_others(look.ends, {all.begin(), all.end()})) return {};
  if (sleeps) return {StallKind::sleeping, "it waits for one of its own that sleeps", false};
  if (threads == 1)
    return {StallKind::deadlocked,
            "it waits for " + first + ", and nobody else is there: nothing will ever come", false};
  return {StallKind::deadlocked,
          "its threads and processes wait for one another, and for nothing outside: the main thread for " +
              first + text + (shown > kMostShown ? ", and others" : ""),
          false};
}

}  // namespace plimsoll::guard
