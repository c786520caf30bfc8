// Output: the stream of wire.h, buffered.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "h5/wire.h"

namespace plimsoll::h5 {

class Output {
 public:
  explicit Output(int fd) : fd_(fd) {}

  template <class T>
  void number(T value) {
    bytes(&value, sizeof value);
  }
  void record(wire::Record r) { number(r); }
  void text(std::string_view t) {
    number(static_cast<uint32_t>(t.size()));
    bytes(t.data(), t.size());
  }
  void bytes(const void* data, size_t count) {
    if (count == 0) return;  // of nothing, `data` may be null
    if (count > sizeof block_ - used_) flush();
    if (count > sizeof block_) return write_all(data, count);
    std::memcpy(block_ + used_, data, count);
    used_ += count;
  }
  void flush() {
    write_all(block_, used_);
    used_ = 0;
  }

 private:
  void write_all(const void* data, size_t count) {
    const char* at = static_cast<const char*>(data);
    while (count > 0) {
      const ssize_t n = ::write(fd_, at, count);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) throw std::runtime_error("nobody reads");
      at += n;
      count -= static_cast<size_t>(n);
    }
  }

  int fd_;
  size_t used_ = 0;
  char block_[1u << 16];
};

}  // namespace plimsoll::h5
