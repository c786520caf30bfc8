#include "memory/spill.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#ifdef __linux__
#include <sys/vfs.h>
#endif
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

#include "common/bytes.h"
#include "common/fork.h"
#include "memory/host.h"
#include "plimsoll/error.h"

namespace plimsoll::spill {
namespace {

struct Mappings {
  ForkMutex mutex{LockOrder::buffers};
  std::map<const void*, pid_t> all;  // and who has made it
};
Mappings& mappings() {
  static auto* const m = new Mappings;
  return *m;
}

bool is_memory([[maybe_unused]] const std::string& folder) {
#ifdef __linux__
  constexpr decltype(std::declval<struct statfs>().f_type) kTmpfs = 0x01021994, kRamfs = 0x858458f6;
  struct statfs info;
  return ::statfs(folder.c_str(), &info) == 0 && (info.f_type == kTmpfs || info.f_type == kRamfs);
#else
  return false;
#endif
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& folder) {
    std::string name = folder + "/plimsoll-XXXXXX";
    fd_ = ::mkstemp(name.data());
    if (fd_ < 0)
      fail(ErrorKind::io, folder, "cannot write a file there: ", std::string_view(std::strerror(errno)));
    ::unlink(name.c_str());
  }
  ~TemporaryFile() { ::close(fd_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

// Of a file whose bytes are not set aside a full disk would be noticed in the middle of a step, by a signal.
int set_aside(int fd, int64_t bytes) {
#ifdef __APPLE__
  return ::ftruncate(fd, bytes) == 0 ? 0 : errno;
#else
  return ::posix_fallocate(fd, 0, bytes);
#endif
}

void drop(void* pages, int64_t bytes) noexcept {
  Mappings& m = mappings();
  const std::lock_guard lock(m.mutex);
  m.all.erase(pages);
  host::unmap(pages, bytes);
}

}  // namespace

void check(const std::string& folder) {
  std::error_code none;
  if (!std::filesystem::is_directory(folder, none))
    fail(ErrorKind::not_found, "spill", "expected a folder that exists, got '", folder, "'");
  require(!is_memory(folder), "spill", "'", folder, "' is on a file system in memory (tmpfs): what is moved ",
          "there saves nothing. Name a folder on a disk");
}

std::shared_ptr<Buffer> make(int64_t bytes, const std::string& folder) {
  check(folder);
  const int64_t size = host::round_up(std::max<int64_t>(bytes, 1), host::page_size());
  const TemporaryFile file(folder);
  if (const int error = set_aside(file.fd(), size); error != 0)
    fail(ErrorKind::io, "spill", "no room for ", bytes_text(bytes), " in '", folder,
         "': ", std::string_view(std::strerror(error)));
  void* pages = ::mmap(nullptr, static_cast<size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED, file.fd(), 0);
  if (pages == MAP_FAILED) fail(ErrorKind::out_of_memory, "spill", "no addresses for ", bytes_text(bytes));
  std::shared_ptr<void> owned(pages, [size](void* p) { drop(p, size); });
  Mappings& m = mappings();
  const std::lock_guard lock(m.mutex);
  m.all.emplace(pages, ::getpid());
  return Buffer::wrap(pages, bytes, std::move(owned));
}

bool holds(const void* address) noexcept {
  Mappings& m = mappings();
  const std::lock_guard lock(m.mutex);
  return m.all.contains(address);
}

void check_mine(const void* address) {
  Mappings& m = mappings();
  const std::lock_guard lock(m.mutex);
  const auto found = m.all.find(address);
  if (found == m.all.end() || found->second == ::getpid()) return;
  fail(ErrorKind::unsupported, "spill",
       "the optimizer's state is in files of the process that this one was forked from: to train here would ",
       "change it there. Make the model in this process, or start it with 'spawn' instead of 'fork'");
}

void let_go(void* address, int64_t bytes) noexcept {
  // Of a shared mapping this drops the pages, not what is in them.
  (void)::madvise(address, static_cast<size_t>(bytes), MADV_DONTNEED);
}

void let_go(const Buffer& buffer) noexcept {
  if (holds(buffer.address())) let_go(buffer.address(), buffer.bytes());
}

}  // namespace plimsoll::spill
