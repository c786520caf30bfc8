#include "common/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "common/fd.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

[[noreturn]] void fail_io(const std::filesystem::path& path, std::string_view what) {
  fail(ErrorKind::io, path.string(), what, ": ", std::string_view(std::strerror(errno)));
}

// Two threads, or two processes, that save to one path must not share the file they write first.
std::filesystem::path name_beside(const std::filesystem::path& path) {
  static std::atomic<unsigned> count{0};
  std::string name = concat(".", path.filename().string(), ".", ::getpid(), "-", count.fetch_add(1), ".tmp");
  return path.parent_path() / name;
}

std::filesystem::path behind_links(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return path;
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
  return error ? path : target;
}

// Does not fail: the file is in place by then.
void sync_folder(const std::filesystem::path& folder) noexcept {
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;  // a folder that may be written to but not read: the rename stands all the same
  ::fsync(fd);
  ::close(fd);
}

// The file beside, removed unless it was renamed.
class Beside {
 public:
  Beside(const std::filesystem::path& target)
      : target_(target), folder_(target.parent_path()), path_(name_beside(target)) {
    fd_ = ::open(path_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
    if (fd_ < 0) fail_io(target_, "cannot write a file there");
    struct stat old;
    if (::stat(target_.c_str(), &old) == 0) ::fchmod(fd_, old.st_mode & 07777);
  }
  ~Beside() {
    if (fd_ >= 0) ::close(fd_);
    if (!renamed_) ::unlink(path_.c_str());
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  NewFile file() const { return NewFile(fd_, path_); }
  void finish() {
    if (::fsync(fd_) != 0) fail_io(target_, "cannot bring the file to the disk");
    if (::rename(path_.c_str(), target_.c_str()) != 0) fail_io(target_, "cannot put the new file in place");
    renamed_ = true;
    sync_folder(folder_);
  }

 private:
  std::filesystem::path target_, folder_, path_;
  int fd_ = -1;
  bool renamed_ = false;
};

}  // namespace

void NewFile::write(const void* bytes, size_t size) {
  if (!write_at(fd_, bytes, size, position_)) fail_io(path_, "cannot write");
  position_ += size;
}

void write_atomically(const std::filesystem::path& path, const std::function<void(NewFile&)>& writer) {
  Beside beside(behind_links(path));
  NewFile file = beside.file();
  writer(file);
  beside.finish();
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail(ErrorKind::io, folder.string(), "cannot be made: ", error.message());
}

void remove_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  if (error) fail(ErrorKind::io, folder.string(), "cannot be removed: ", error.message());
}

}  // namespace plimsoll
