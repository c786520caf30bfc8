#include "guard/stall_ring.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "guard/gate/page.h"
#include "guard/memory_watch.h"
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

bool is_pipe(const std::string& file) { return file.rfind("pipe:", 0) == 0; }

std::optional<std::vector<std::string>> polled(pid_t pid, const fs::path& process, const Call& call) {
  const size_t count = std::min<size_t>(call.arguments[1], kMostPolled);
  std::vector<pollfd> list(count);
  const iovec here{list.data(), count * sizeof(pollfd)};
  const iovec there{reinterpret_cast<void*>(call.arguments[0]), count * sizeof(pollfd)};
  if (count == 0 || ::process_vm_readv(pid, &here, 1, &there, 1, 0) != static_cast<ssize_t>(here.iov_len))
    return std::nullopt;
  std::vector<std::string> files;
  for (const pollfd& p : list) {
    if (p.fd >= 0) files.push_back(opened(process, static_cast<uint64_t>(p.fd)));
  }
  return files;
}

// What a thread waits for, in a word; the pipes among it are added to `pipes`. Nothing if somebody outside
// may end the wait, or the clock; of one that waits `again` and again each time has its limit.
std::optional<std::string> wait_of(pid_t pid, const fs::path& process, const fs::path& task, bool again,
                                   std::set<std::string>& pipes) {
  const Call call = read_call(task);
  if (call.number == SYS_futex && call.arguments[3] == 0) return "a lock";
  if (call.is({SYS_wait4, SYS_waitid})) return "the end of a process";
  std::vector<std::string> files;
  if (call.is({SYS_read, SYS_write, SYS_readv, SYS_writev})) {
    files.push_back(opened(process, call.arguments[0]));
#ifdef SYS_poll
  } else if (call.number == SYS_poll && (again || static_cast<int>(call.arguments[2]) < 0)) {
    files = polled(pid, process, call).value_or(files);
#endif
  } else if (call.number == SYS_ppoll && (again || call.arguments[2] == 0)) {
    files = polled(pid, process, call).value_or(files);
  }
  if (files.empty() || !std::all_of(files.begin(), files.end(), is_pipe)) return std::nullopt;
  pipes.insert(files.begin(), files.end());
  return "a pipe";
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// Whether a process that is not one of these has one of the pipes open.
bool held_by_others(const std::set<std::string>& pipes, const std::set<pid_t>& these) {
  std::error_code error;
  for (const auto& process : fs::directory_iterator("/proc", error)) {
    const std::string name = process.path().filename().string();
    if (!is_number(name) || these.count(std::atoi(name.c_str())) != 0) continue;
    std::error_code no_right;
    for (const auto& fd : fs::directory_iterator(process.path() / "fd", no_right)) {
      std::error_code gone;
      if (pipes.count(fs::read_symlink(fd.path(), gone).string()) != 0) return true;
    }
  }
  return false;
}

}  // namespace

std::string waits_in_a_ring(pid_t pid, const std::set<pid_t>& own) {
  std::vector<pid_t> all = descendants(pid);
  all.insert(all.begin(), pid);
  std::set<std::string> pipes;
  std::string text, first;
  size_t shown = 0, threads = 0;
  for (pid_t member : all) {
    const fs::path process = "/proc/" + std::to_string(member);
    std::error_code error;
    for (const auto& task : fs::directory_iterator(process / "task", error)) {
      const pid_t thread = std::atoi(task.path().filename().c_str());
      const auto stat = read_stat(task.path());
      if ((own.count(thread) != 0 && thread != pid) || !stat || stat->name == gate::kThreadName ||
          stat->state == 'Z')
        continue;
      if (stat->state != 'S') return {};
      // Only one that polls over and over is looked at with a limit of its own (stall.cpp).
      const auto wait = wait_of(member, process, task.path(), thread == pid, pipes);
      if (!wait) return {};
      ++threads;
      if (thread == pid) first = *wait;
      if (thread == member && member != pid && ++shown <= kMostShown)
        text += ", process " + std::to_string(member) + " (" + stat->name + ") for " + *wait;
    }
  }
  if (first.empty() || (!pipes.empty() && held_by_others(pipes, {all.begin(), all.end()}))) return {};
  if (threads == 1) return "it waits for " + first + " that nobody else has, so nothing will ever come";
  return "its threads and processes wait for one another, and for nothing outside: the main thread for " +
         first + text + (shown > kMostShown ? ", and others" : "");
}

}  // namespace plimsoll::guard
