#include "doctor/patience.h"

#include <ctime>
#include <algorithm>
#include <cstdlib>
#include <thread>

namespace plimsoll::doctor {
namespace {

std::chrono::nanoseconds worked() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

bool machine_is_busy() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 && load > 1.5 * std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

Patience::Patience(std::chrono::milliseconds limit)
    : start_(std::chrono::steady_clock::now()), limit_(limit), worked_before_(worked()) {}

bool Patience::over() const {
  const auto passed = std::chrono::steady_clock::now() - start_;
  if (passed <= limit_) return false;
  if (worked() - worked_before_ > limit_) return true;
  return passed > 2 * limit_ && !machine_is_busy();
}

}  // namespace plimsoll::doctor
