#include "doctor/run_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace plimsoll::doctor {
namespace {

constexpr size_t kKept = 16u << 10;

// Between fork and exec only calls that are safe there; the arguments were prepared before.
[[noreturn]] void become(char* const* arguments, int output) {
  ::setpgid(0, 0);
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::execv(arguments[0], arguments);
  ::_exit(127);
}

// Reads until the pipe closes or time is up; keeps the end of what was said.
bool drain(int pipe, std::chrono::steady_clock::time_point deadline, std::string& output) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd ready{pipe, POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(left.count())) <= 0) continue;
    char block[4096];
    const ssize_t n = ::read(pipe, block, sizeof block);
    if (n <= 0) return true;
    output.append(block, static_cast<size_t>(n));
    if (output.size() > 2 * kKept) output.erase(0, output.size() - kKept);
  }
}

}  // namespace

ProcessEnd run_process(const std::vector<std::string>& command, std::chrono::seconds limit) {
  ProcessEnd end;
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  int pipe[2];
  if (command.empty() || ::pipe(pipe) != 0) return end;
  for (const int fd : pipe) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) become(arguments.data(), pipe[1]);
  ::close(pipe[1]);
  if (child > 0) {
    end.started = true;
    end.timed_out = !drain(pipe[0], start + limit, end.output);
    if (end.timed_out) ::kill(-child, SIGKILL);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  }
  ::close(pipe[0]);
  end.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return end;
}

}  // namespace plimsoll::doctor
