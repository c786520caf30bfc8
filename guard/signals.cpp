#include "guard/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "plimsoll/error.h"

namespace plimsoll::guard {

namespace {

int g_write_end = -1;

void on_signal(int signal) {
  const int saved = errno;
  const char byte = static_cast<char>(signal);
  [[maybe_unused]] ssize_t n = ::write(g_write_end, &byte, 1);
  errno = saved;
}

}  // namespace

SignalPipe::SignalPipe(std::initializer_list<int> signals) {
  if (::pipe(fds_) != 0) fail(ErrorKind::io, "guard", "cannot make a pipe: ", std::strerror(errno));
  for (int fd : fds_) {
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
  }
  g_write_end = fds_[1];
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (int signal : signals) ::sigaction(signal, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

SignalPipe::~SignalPipe() {
  g_write_end = -1;
  for (int fd : fds_) ::close(fd);
}

std::string SignalPipe::take() {
  char bytes[64];
  const ssize_t n = ::read(fds_[0], bytes, sizeof bytes);
  return std::string(bytes, n > 0 ? static_cast<size_t>(n) : 0);
}

}  // namespace plimsoll::guard
