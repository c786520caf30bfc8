#include "guard/group_watch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "plimsoll/error.h"

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

namespace plimsoll::guard {

namespace {

// What a system without close_range may have open at most; the guard has some hundreds of connections.
constexpr rlim_t kMostDescriptors = 65536;

// Ports, the terminal, locks: held open here they would outlive the guard.
void close_all_but(int kept) {
  ::dup2(kept, 0);
#ifdef SYS_close_range
  if (::syscall(SYS_close_range, 1, ~0U, 0) == 0) return;
#endif
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const int end = static_cast<int>(std::min(limit.rlim_cur, kMostDescriptors));
  for (int fd = 1; fd < end; ++fd) ::close(fd);
}

// A fork of the guard, which has other threads: plain system calls, no allocation.
[[noreturn]] void keep_watch(pid_t group, int guard_alive) {
  // What is sent to the group is meant for the kernel.
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
#ifdef __linux__
  ::prctl(PR_SET_NAME, "plimsoll-watch");
#endif
  close_all_but(guard_alive);
  if (::setpgid(0, group) != 0) ::_exit(1);
  char byte = 0;
  while (::read(0, &byte, 1) < 0 && errno == EINTR) {
  }
  ::kill(0, SIGKILL);
  ::_exit(1);
}

}  // namespace

GroupWatch::GroupWatch(pid_t group) {
  int fds[2];
  if (::pipe(fds) != 0) fail(ErrorKind::io, "guard", "cannot make a pipe: ", std::strerror(errno));
  for (int fd : fds) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  pid_ = ::fork();
  if (pid_ == 0) keep_watch(group, fds[0]);
  const int fork_error = errno;
  ::close(fds[0]);
  alive_ = fds[1];
  if (pid_ > 0) return;
  ::close(alive_);
  fail(ErrorKind::io, "guard", "cannot start a process: ", std::strerror(fork_error));
}

GroupWatch& GroupWatch::operator=(GroupWatch&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(alive_, other.alive_);
  return *this;
}

void GroupWatch::end() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);  // first: at the end of the pipe it would end the group
  ::waitpid(pid_, nullptr, 0);
  ::close(alive_);
  pid_ = 0;
}

}  // namespace plimsoll::guard
