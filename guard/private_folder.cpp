#include "guard/private_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <string_view>

#include "guard/files.h"
#include "plimsoll/error.h"

namespace plimsoll::guard {

namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestBase = 60;
constexpr const char* kLock = "lock";
constexpr std::string_view kPrefix = "plimsoll-";
constexpr size_t kNameSize = kPrefix.size() + 6;
// A folder younger than this may be one whose guard has not taken its lock yet.
constexpr auto kSettled = std::chrono::minutes(1);

// Opens the lock of a folder and takes it, if nobody holds it; -1 otherwise. It goes with the process that
// has it.
int take_lock(const fs::path& folder, int flags) {
  const int fd = ::open((folder / kLock).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
  if (fd >= 0 && ::flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  if (fd >= 0) ::close(fd);
  return -1;
}

bool is_left_over(const fs::path& folder) {
  struct stat folder_stat {};
  if (::lstat(folder.c_str(), &folder_stat) != 0 || !S_ISDIR(folder_stat.st_mode) ||
      folder_stat.st_uid != ::geteuid())
    return false;
  std::error_code error;
  const auto written = fs::last_write_time(folder / kLock, error);
  if (error || fs::file_time_type::clock::now() - written < kSettled) return false;
  const int fd = take_lock(folder, 0);
  if (fd >= 0) ::close(fd);
  return fd >= 0;
}

// A guard that was killed leaves its folder behind; the next one to start removes it.
void remove_left_over(const fs::path& base) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(base, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.size() == kNameSize && name.rfind(kPrefix, 0) == 0 && is_left_over(entry.path())) {
      fs::remove_all(entry.path(), ignored);
    }
  }
}

}  // namespace

PrivateFolder::PrivateFolder() {
  std::string error;
  for (const char* variable : {"XDG_RUNTIME_DIR", "TMPDIR", ""}) {
    const std::string base = *variable ? environment(variable).value_or("") : "/tmp";
    if (base.empty() || base.size() > kLongestBase) continue;
    std::string name = concat(base, "/", kPrefix, "XXXXXX");
    if (::mkdtemp(name.data())) {
      path_ = name;
      lock_ = take_lock(path_, O_CREAT);
      remove_left_over(base);
      return;
    }
    error = concat(name, ": ", std::strerror(errno));
  }
  fail(ErrorKind::io, "guard", "cannot make a folder for sockets: ", error);
}

void PrivateFolder::restore() {
  if (::mkdir(path_.c_str(), 0700) != 0) {
    if (errno == EEXIST) return;
    fail(ErrorKind::io, "guard", "cannot make the folder for sockets ", path_.string(),
         " again: ", std::strerror(errno));
  }
  if (lock_ >= 0) ::close(lock_);
  lock_ = take_lock(path_, O_CREAT);
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace plimsoll::guard
