#include "guard/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "plimsoll/error.h"

namespace plimsoll::guard {

namespace {

// Sent to the waiting thread alone, to end it.
constexpr int kEnd = SIGUSR1;

void wait_for_signals(sigset_t set, int write_end) {
  for (;;) {
    int signal = 0;
    if (::sigwait(&set, &signal) != 0) continue;
    if (signal == kEnd) return;
    const char byte = static_cast<char>(signal);
    [[maybe_unused]] ssize_t n = ::write(write_end, &byte, 1);
  }
}

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

SignalPipe::SignalPipe(std::initializer_list<int> signals) {
  if (::pipe(fds_) != 0) fail(ErrorKind::io, "guard", "cannot make a pipe: ", std::strerror(errno));
  for (int fd : fds_) {
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
  }
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, kEnd);
  for (int signal : signals) {
    // Whoever started us may have had one ignored. Under nohup the end of a terminal is to end nothing.
    if (signal == SIGHUP && is_ignored(signal)) continue;
    ::signal(signal, SIG_DFL);
    ::sigaddset(&set, signal);
  }
  ::signal(SIGPIPE, SIG_IGN);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread(wait_for_signals, set, fds_[1]);
}

SignalPipe::~SignalPipe() {
  ::pthread_kill(thread_.native_handle(), kEnd);
  thread_.join();
  for (int fd : fds_) ::close(fd);
}

std::string SignalPipe::take() {
  char bytes[64];
  const ssize_t n = ::read(fds_[0], bytes, sizeof bytes);
  return std::string(bytes, n > 0 ? static_cast<size_t>(n) : 0);
}

}  // namespace plimsoll::guard
