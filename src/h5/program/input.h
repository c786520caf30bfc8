// Input: the commands of wire.h, buffered.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

namespace plimsoll::h5 {

class Input {
 public:
  explicit Input(int fd) : fd_(fd) {}

  // All of these throw if nobody speaks any more.
  template <class T>
  T number() {
    T value;
    bytes(&value, sizeof value);
    return value;
  }
  std::string text() {
    std::string value(number<uint32_t>(), '\0');
    bytes(value.data(), value.size());
    return value;
  }
  void bytes(void* into, size_t count) {
    char* at = static_cast<char*>(into);
    while (count > 0) {
      if (first_ == last_) fill();
      const size_t ready = count < last_ - first_ ? count : last_ - first_;
      std::memcpy(at, block_ + first_, ready);
      first_ += ready;
      at += ready;
      count -= ready;
    }
  }

 private:
  void fill() {
    ssize_t n;
    while ((n = ::read(fd_, block_, sizeof block_)) < 0 && errno == EINTR) {
    }
    if (n <= 0) throw std::runtime_error("nobody speaks");
    first_ = 0;
    last_ = static_cast<size_t>(n);
  }

  int fd_;
  size_t first_ = 0, last_ = 0;
  char block_[1u << 16];
};

}  // namespace plimsoll::h5
