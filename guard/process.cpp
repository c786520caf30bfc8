#include "guard/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "plimsoll/error.h"

#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace plimsoll::guard {

namespace {

struct Pipe {
  int read = -1, write = -1;
};

Pipe make_pipe() {
  int fds[2];
  if (::pipe(fds) != 0) fail(ErrorKind::io, "guard", "cannot make a pipe: ", std::strerror(errno));
  for (int fd : fds) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  ::fcntl(fds[0], F_SETFL, O_NONBLOCK);
#ifdef F_SETPIPE_SZ
  ::fcntl(fds[0], F_SETPIPE_SZ, 1 << 20);
#endif
  return {fds[0], fds[1]};
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const auto& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

// All that follows runs between fork and exec: plain system calls, no allocation.
struct Plan {
  char* const* argv;
  char* const* environment;
  const ProcessOptions* options;
  Pipe out, err, stacks, failure;
  int devnull;
  pid_t parent;
};

[[noreturn]] void run_child(const Plan& plan) {
  ::setpgid(0, 0);
#ifdef __linux__
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.parent) ::_exit(1);
#endif
  if (plan.options->own_pid) plan.options->own_pid->store(::getpid());
  if (plan.devnull >= 0) {
    ::dup2(plan.devnull, 0);
  } else if (::isatty(0)) {
    // In a group of its own it may read from the terminal only if that is in front.
    ::signal(SIGTTOU, SIG_IGN);
    ::tcsetpgrp(0, ::getpid());
    ::signal(SIGTTOU, SIG_DFL);
  }
  if (plan.out.write >= 0) ::dup2(plan.out.write, 1);
  ::dup2(plan.err.write, 2);
  if (plan.stacks.write >= 0) ::dup2(plan.stacks.write, plan.options->stack_fd);
  if (!plan.options->cgroup_procs.empty()) {
    const int fd = ::open(plan.options->cgroup_procs.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
      // The guard looks afterwards whether the process is in its leaf.
      [[maybe_unused]] ssize_t n = ::write(fd, "0", 1);
      ::close(fd);
    }
  }
  if (plan.options->data_limit > 0) {
    rlimit limit{};
    ::getrlimit(RLIMIT_DATA, &limit);
    const auto wanted = static_cast<rlim_t>(plan.options->data_limit);
    if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > wanted) limit.rlim_cur = wanted;
    ::setrlimit(RLIMIT_DATA, &limit);
  }
  // Whoever started the guard may have had SIGINT ignored; Python would then ignore interrupts too. What the
  // guard does not touch, nohup's SIGHUP say, is as without it.
  for (int signal : {SIGINT, SIGTERM, SIGCHLD, SIGPIPE}) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::environ = const_cast<char**>(plan.environment);
  ::execvp(plan.argv[0], plan.argv);
  const int error = errno;
  [[maybe_unused]] ssize_t n = ::write(plan.failure.write, &error, sizeof error);
  ::_exit(127);
}

void close_fd(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

}  // namespace

Process Process::start(const ProcessOptions& options) {
  require(!options.argv.empty(), "guard", "expected a command to run, got none");
  const auto argv = pointers(options.argv);
  const auto environment = pointers(options.environment);
  Plan plan{argv.data(), environment.data(), &options, {}, {}, {}, {}, -1, ::getpid()};
  if (options.capture) plan.out = make_pipe();
  plan.err = make_pipe();
  if (options.stack_fd > 0) plan.stacks = make_pipe();
  plan.failure = make_pipe();
  if (!options.keep_stdin) plan.devnull = ::open("/dev/null", O_RDONLY | O_CLOEXEC);

  const pid_t pid = ::fork();
  if (pid == 0) run_child(plan);
  const int fork_error = errno;
  for (int* fd : {&plan.out.write, &plan.err.write, &plan.stacks.write, &plan.failure.write, &plan.devnull})
    close_fd(*fd);

  Process process;
  process.fds_[0] = plan.out.read;
  process.fds_[1] = plan.err.read;
  process.fds_[2] = plan.stacks.read;
  if (pid < 0) {
    close_fd(plan.failure.read);
    fail(ErrorKind::io, "guard", "cannot start a process: ", std::strerror(fork_error));
  }
  process.pid_ = process.group_ = pid;
  ::setpgid(pid, pid);
  try {
    process.watch_ = GroupWatch(pid);
  } catch (...) {
    close_fd(plan.failure.read);
    throw;
  }
  // The pipe closes by itself when the program runs.
  ::fcntl(plan.failure.read, F_SETFL, 0);
  int exec_error = 0;
  ssize_t n = 0;
  do n = ::read(plan.failure.read, &exec_error, sizeof exec_error);
  while (n < 0 && errno == EINTR);
  close_fd(plan.failure.read);
  if (n == sizeof exec_error) {
    fail(ErrorKind::not_found, "guard", "cannot run ", options.argv[0], ": ", std::strerror(exec_error));
  }
  return process;
}

Process::~Process() {
  kill_rest();
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  for (int& fd : fds_) close_fd(fd);
}

Process& Process::operator=(Process&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(group_, other.group_);
  watch_ = std::move(other.watch_);  // these, too, are exchanged
  std::swap(fds_, other.fds_);
  return *this;
}

std::string Process::read(int& fd) {
  if (fd < 0) return {};
  std::string text(65536, '\0');
  ssize_t n = 0;
  do n = ::read(fd, text.data(), text.size());
  while (n < 0 && errno == EINTR);
  if (n == 0 || (n < 0 && errno != EAGAIN)) close_fd(fd);
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return text;
}

void Process::signal_group(int signal) {
  if (pid_ > 0) ::kill(-group_, signal);
}

std::optional<int> Process::poll() {
  if (pid_ <= 0) return std::nullopt;
  int status = 0;
  const pid_t done = ::waitpid(pid_, &status, WNOHANG);
  if (done != pid_) return std::nullopt;
  pid_ = 0;
  return status;
}

void Process::kill_rest() {
  if (group_ > 0) ::kill(-group_, SIGKILL);
  group_ = 0;
  watch_.end();
}

}  // namespace plimsoll::guard
