#include "h5/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "common/own_folders.h"
#include "h5/wire.h"

extern char** environ;

namespace plimsoll::h5 {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "plimsoll-h5";
constexpr size_t kBlock = 1u << 16;
// Longer than any disk keeps a healthy process waiting.
constexpr int kPatienceMs = 60'000;

std::vector<fs::path> folders() {
  std::vector<fs::path> list;
  if (const char* set = std::getenv("PLIMSOLL_LIBEXEC")) list.emplace_back(set);
  for (const fs::path& folder : own_folders())
    list.insert(list.end(), {folder, folder / ".." / "libexec" / "plimsoll"});
#ifdef PLIMSOLL_LIBEXEC_DIR
  list.emplace_back(PLIMSOLL_LIBEXEC_DIR);
#endif
  return list;
}

std::string find_program(const std::string& file) {
  for (const fs::path& folder : folders()) {
    const fs::path program = folder / kProgram;
    if (::access(program.c_str(), X_OK) == 0) return program.string();
  }
  fail(ErrorKind::not_found, file, "HDF5 files are read and written by the program ",
       std::string_view(kProgram), ", which is not there; name its folder in PLIMSOLL_LIBEXEC");
}

// A copy above the standard descriptors, which the new process gets rewired.
Fd lifted(int fd, const std::string& file) {
  Fd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 10));
  if (copy.get() < 0) fail(ErrorKind::io, file, "no more files can be opened");
  return copy;
}

// Nobody at the other end is an error, not a signal.
ssize_t send_some(int socket, const void* bytes, size_t count) {
#ifdef MSG_NOSIGNAL
  return ::send(socket, bytes, count, MSG_NOSIGNAL);
#else
  return ::send(socket, bytes, count, 0);
#endif
}

void never_signal([[maybe_unused]] int socket) {
#ifdef SO_NOSIGPIPE
  const int on = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
}

}  // namespace

Process::Process(About about, const std::vector<std::string>& arguments, int input)
    : about_(std::move(about)), block_(new char[kBlock]) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
    fail(ErrorKind::io, about_.file, "no more sockets can be opened");
  const Fd low_ours(ends[0]), low_theirs(ends[1]);
  socket_ = lifted(low_ours.get(), about_.file);
  never_signal(socket_.get());
  const Fd theirs = lifted(low_theirs.get(), about_.file);
  const Fd given = input < 0 ? Fd() : lifted(input, about_.file);
  start(find_program(about_.file), arguments, given.get(), theirs.get());
}

Process::~Process() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  wait();
}

void Process::start(const std::string& program, const std::vector<std::string>& arguments, int input,
                    int output) {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (input >= 0)
    ::posix_spawn_file_actions_adddup2(&actions, input, 0);
  else
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output, 1);
  ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  const int error = ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return;
  pid_ = 0;
  fail(ErrorKind::io, about_.file, "cannot start ", program, ": ", std::string_view(std::strerror(error)));
}

void Process::read(void* into, uint64_t count) {
  if (!unsent_.empty()) send();
  char* at = static_cast<char*>(into);
  while (count > 0) {
    if (first_ == last_ && count < kBlock) {
      first_ = 0;
      last_ = read_some(block_.get(), kBlock);
    }
    const uint64_t ready = std::min<uint64_t>(count, last_ - first_);
    std::memcpy(at, block_.get() + first_, ready);
    first_ += ready;
    at += ready;
    count -= ready;
    if (first_ < last_ || count < kBlock) continue;
    const uint64_t n = read_some(at, count);  // large data goes straight to its place
    at += n;
    count -= n;
  }
}

std::string Process::text(uint64_t most) {
  const uint32_t length = number<uint32_t>();
  if (length > most) misspoke();
  std::string text(length, '\0');
  read(text.data(), length);
  return text;
}

void Process::write(const void* bytes, size_t count) {
  unsent_.append(static_cast<const char*>(bytes), count);
  if (unsent_.size() >= kBlock) send();
}

void Process::put_text(std::string_view text) {
  require(text.size() <= UINT32_MAX, about_.file, "a text of ", text.size(), " bytes is too long for HDF5");
  put(static_cast<uint32_t>(text.size()));
  write(text.data(), text.size());
}

void Process::send() {
  for (size_t sent = 0; sent < unsent_.size();) {
    await(POLLOUT);
    const ssize_t n = send_some(socket_.get(), unsent_.data() + sent, unsent_.size() - sent);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) say_how_it_ended();
    sent += static_cast<size_t>(n);
  }
  unsent_.clear();
}

void Process::expect_ok() {
  const auto answer = number<wire::Answer>();
  if (answer == wire::Answer::ok) return;
  const ErrorKind kind = answer == wire::Answer::unsupported ? ErrorKind::unsupported : about_.kind;
  fail(kind, about_.file, text(wire::kMostName));
}

void Process::misspoke() {
  fail(about_.kind, about_.file, "what libhdf5 answers makes no sense: damaged, or made to mislead");
}

void Process::await(short event) {
  pollfd ready{socket_.get(), event, 0};
  int polled;
  while ((polled = ::poll(&ready, 1, kPatienceMs)) < 0 && errno == EINTR) {
  }
  if (polled == 0)
    fail(about_.kind, about_.file, "libhdf5 did not come to an end ", about_.doing, " it: damaged");
}

uint64_t Process::read_some(void* into, uint64_t count) {
  for (;;) {
    await(POLLIN);
    const ssize_t n = ::read(socket_.get(), into, count);
    if (n > 0) return static_cast<uint64_t>(n);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    say_how_it_ended();
  }
}

void Process::say_how_it_ended() {
  if (pid_ <= 0) fail(about_.kind, about_.file, "libhdf5 has ended ", about_.doing, " it");
  const int status = wait();
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
    fail(about_.kind, about_.file, "libhdf5 did not come to an end ", about_.doing, " it: damaged");
  }
  if (WIFSIGNALED(status)) {
    fail(about_.kind, about_.file, "libhdf5 crashed ", about_.doing, " it (signal ", WTERMSIG(status),
         "): damaged, or made to crash");
  }
  fail(about_.kind, about_.file, "libhdf5 stopped before the end (code ",
       WIFEXITED(status) ? WEXITSTATUS(status) : -1, ")");
}

int Process::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  return status;
}

}  // namespace plimsoll::h5
