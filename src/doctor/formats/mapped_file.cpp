#include "doctor/formats/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace plimsoll::doctor {
namespace {

constexpr size_t kCopyBelow = 1u << 20;

struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

std::string read_all(int fd, size_t limit) {
  std::string text;
  char block[1 << 16];
  while (text.size() < limit) {
    const ssize_t n = ::read(fd, block, std::min(sizeof block, limit - text.size()));
    if (n <= 0) break;
    text.append(block, static_cast<size_t>(n));
  }
  return text;
}

}  // namespace

std::optional<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  // O_NONBLOCK: a FIFO in the place of a file must not hold the doctor up.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status {};
  if (file.fd < 0 || ::fstat(file.fd, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  MappedFile result;
  result.size_ = static_cast<size_t>(status.st_size);
  if (result.size_ < kCopyBelow) {
    result.copy_ = read_all(file.fd, kCopyBelow);
    return result;
  }
  void* mapped = ::mmap(nullptr, result.size_, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (mapped == MAP_FAILED) return std::nullopt;
  result.mapped_ = mapped;
  return result;
}

MappedFile::MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(mapped_, other.mapped_);
  std::swap(size_, other.size_);
  std::swap(copy_, other.copy_);
  return *this;
}

MappedFile::~MappedFile() {
  if (mapped_) ::munmap(mapped_, size_);
}

std::optional<std::string> read_text(const std::filesystem::path& path, size_t limit) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status {};
  if (file.fd < 0 || ::fstat(file.fd, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return read_all(file.fd, limit);
}

}  // namespace plimsoll::doctor
