// Fd owns an open descriptor; write_at writes to one.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace plimsoll {

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

// Writes all of the bytes at `offset`; false, and errno, if the system would not.
inline bool write_at(int fd, const void* bytes, size_t size, uint64_t offset) {
  const char* from = static_cast<const char*>(bytes);
  for (size_t done = 0; done < size;) {
    const ssize_t n = ::pwrite(fd, from + done, size - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

}  // namespace plimsoll
