#include "guard/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "plimsoll/error.h"

#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

namespace plimsoll::guard {

namespace fs = std::filesystem;

std::optional<std::string> read_file(const fs::path& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::string text;
  char block[16384];
  ssize_t n = 0;
  while ((n = ::read(fd, block, sizeof block)) > 0 || (n < 0 && errno == EINTR)) {
    if (n > 0) text.append(block, static_cast<size_t>(n));
  }
  ::close(fd);
  if (n < 0) return std::nullopt;
  return text;
}

void write_file(const fs::path& path, std::string_view text) {
  const fs::path beside = path.string() + ".new-" + std::to_string(::getpid());
  int fd = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) fail(ErrorKind::io, "write", "cannot create ", beside.string(), ": ", std::strerror(errno));
  bool ok = true;
  for (size_t done = 0; ok && done < text.size();) {
    ssize_t n = ::write(fd, text.data() + done, text.size() - done);
    if (n > 0) done += static_cast<size_t>(n);
    ok = n >= 0 || errno == EINTR;
  }
  ok = ::close(fd) == 0 && ok;
  if (!ok || ::rename(beside.c_str(), path.c_str()) != 0) {
    const std::string why = std::strerror(errno);
    ::unlink(beside.c_str());
    fail(ErrorKind::io, "write", "cannot write ", path.string(), ": ", why);
  }
}

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (!value || !*value) return std::nullopt;
  return std::string(value);
}

fs::path state_folder() {
  if (auto state = environment("XDG_STATE_HOME")) return fs::path(*state) / "plimsoll";
  return fs::path(environment("HOME").value_or("/tmp")) / ".local/state/plimsoll";
}

fs::path program_folder() {
  std::error_code error;
#ifdef __APPLE__
  char path[4096];
  uint32_t size = sizeof path;
  if (_NSGetExecutablePath(path, &size) != 0) return ".";
  return fs::canonical(path, error).parent_path();
#else
  return fs::read_symlink("/proc/self/exe", error).parent_path();
#endif
}

}  // namespace plimsoll::guard
