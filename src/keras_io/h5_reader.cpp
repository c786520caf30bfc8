#include "keras_io/h5_reader.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "keras_io/h5_stream.h"
#include "plimsoll/error.h"

extern char** environ;

namespace plimsoll::keras_io {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "plimsoll-h5";
// Longer than any disk keeps a healthy process waiting.
constexpr int kPatienceMs = 60'000;

std::vector<fs::path> folders() {
  std::vector<fs::path> list;
  if (const char* set = std::getenv("PLIMSOLL_LIBEXEC")) list.emplace_back(set);
  std::error_code ignored;
  std::vector<fs::path> ours{fs::read_symlink("/proc/self/exe", ignored)};
  Dl_info library{};  // our own code: in a shared library, that is not the program
  if (::dladdr(reinterpret_cast<const void*>(&folders), &library) && library.dli_fname) {
    ours.emplace_back(library.dli_fname);
  }
  for (const fs::path& file : ours) {
    const fs::path folder = file.parent_path();
    list.insert(list.end(), {folder, folder / ".." / "libexec" / "plimsoll"});
  }
#ifdef PLIMSOLL_LIBEXEC_DIR
  list.emplace_back(PLIMSOLL_LIBEXEC_DIR);
#endif
  return list;
}

std::string find_program(const FileSource& source) {
  for (const fs::path& folder : folders()) {
    const fs::path program = folder / kProgram;
    if (::access(program.c_str(), X_OK) == 0) return program.string();
  }
  fail(ErrorKind::not_found, source.name(), "HDF5 files are read by the program ", std::string_view(kProgram),
       ", which is not there; name its folder in PLIMSOLL_LIBEXEC");
}

class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

// A copy above the standard descriptors, which the new process gets rewired.
Fd lifted(int fd, const FileSource& source) {
  Fd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 10));
  if (copy.get() < 0) fail(ErrorKind::io, source.name(), "no more files can be opened");
  return copy;
}

class Process {
 public:
  explicit Process(const FileSource& source) : source_(source) {
    int ends[2];
    if (::pipe(ends) != 0) fail(ErrorKind::io, source.name(), "no more pipes can be opened");
    const Fd low_read(ends[0]), low_write(ends[1]);
    output_ = lifted(low_read.get(), source);
    const Fd write = lifted(low_write.get(), source), input = lifted(source.fd(), source);
    start(find_program(source), input.get(), write.get());
  }
  ~Process() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    wait();
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void read(void* into, uint64_t count) {
    char* at = static_cast<char*>(into);
    while (count > 0) {
      if (first_ == last_ && count < sizeof block_) fill();
      const uint64_t ready = std::min<uint64_t>(count, last_ - first_);
      std::memcpy(at, block_ + first_, ready);
      first_ += ready;
      at += ready;
      count -= ready;
      if (first_ < last_ || count < sizeof block_) continue;
      const uint64_t n = read_some(at, count);  // large data goes straight to its place
      at += n;
      count -= n;
    }
  }

 private:
  void start(const std::string& program, int input, int output) {
    std::string arguments[] = {program, std::to_string(source_.offset()), std::to_string(source_.size())};
    char* argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(), nullptr};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, input, 0);
    ::posix_spawn_file_actions_adddup2(&actions, output, 1);
    ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    const int error = ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv, environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
      fail(ErrorKind::io, source_.name(), "cannot start ", program, ": ",
           std::string_view(std::strerror(error)));
  }

  uint64_t read_some(void* into, uint64_t count) {
    for (;;) {
      pollfd ready{output_.get(), POLLIN, 0};
      const int polled = ::poll(&ready, 1, kPatienceMs);
      if (polled == 0)
        fail(ErrorKind::bad_file, source_.name(), "libhdf5 did not come to an end reading it: damaged");
      const ssize_t n = polled < 0 ? -1 : ::read(output_.get(), into, count);
      if (n > 0) return static_cast<uint64_t>(n);
      if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      say_how_it_ended();
    }
  }
  void fill() {
    first_ = 0;
    last_ = read_some(block_, sizeof block_);
  }

  [[noreturn]] void say_how_it_ended() {
    const int status = wait();
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
      fail(ErrorKind::bad_file, source_.name(), "libhdf5 did not come to an end reading it: damaged");
    }
    if (WIFSIGNALED(status)) {
      fail(ErrorKind::bad_file, source_.name(), "libhdf5 crashed reading it (signal ", WTERMSIG(status),
           "): damaged, or made to crash");
    }
    fail(ErrorKind::bad_file, source_.name(), "libhdf5 stopped before the end (code ",
         WIFEXITED(status) ? WEXITSTATUS(status) : -1, ")");
  }

  int wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    return status;
  }

  const FileSource& source_;
  Fd output_;
  pid_t pid_ = 0;
  size_t first_ = 0, last_ = 0;
  char block_[1u << 16];
};

}  // namespace

H5Group read_h5_tree(const FileSource& source) {
  const auto process = std::make_unique<Process>(source);
  const ReadBytes read = [&](void* into, uint64_t count) { process->read(into, count); };
  return parse_h5_stream(read, source.size(), source.name());
}

}  // namespace plimsoll::keras_io
