#include "doctor/patience.h"

#include <cstdlib>

#include "doctor/formats/mapped_file.h"

namespace plimsoll::doctor {
namespace {

// How long this thread was ready to run and did not, in its life so far. Zero where the system does not say.
std::chrono::nanoseconds waited() {
  const std::string text = read_text("/proc/thread-self/schedstat", 256).value_or("");
  const size_t space = text.find(' ');
  return std::chrono::nanoseconds(
      space == std::string::npos ? 0 : std::strtoll(text.c_str() + space, nullptr, 10));
}

}  // namespace

Patience::Patience(std::chrono::milliseconds limit)
    : start_(std::chrono::steady_clock::now()),
      limit_(limit),
      waited_before_(waited()),
      thread_(std::this_thread::get_id()) {}

bool Patience::over() const {
  const auto passed = std::chrono::steady_clock::now() - start_;
  if (passed <= limit_) return false;
  const auto before = std::this_thread::get_id() == thread_ ? waited_before_ : std::chrono::nanoseconds(0);
  return passed - (waited() - before) > limit_;
}

}  // namespace plimsoll::doctor
