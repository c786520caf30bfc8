#include <algorithm>

#include "device/cpu/thread_pool.h"
#include "memory/readings.h"

namespace plimsoll {

int hardware_threads() {
  static const int threads = std::clamp(readings::usable_cpus(), 1, kMaxThreads);
  return threads;
}

}  // namespace plimsoll
