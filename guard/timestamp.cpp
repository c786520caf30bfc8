#include "guard/timestamp.h"

#include <sys/time.h>

#include <cstdio>
#include <ctime>

namespace plimsoll::guard {

std::string timestamp() {
  timeval now{};
  ::gettimeofday(&now, nullptr);
  tm parts{};
  ::gmtime_r(&now.tv_sec, &parts);
  char text[64];
  const size_t n = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text + n, sizeof text - n, ".%06ldZ", static_cast<long>(now.tv_usec));
  return text;
}

}  // namespace plimsoll::guard
