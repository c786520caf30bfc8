#include <sched.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "device/cpu/thread_pool.h"

namespace plimsoll {
namespace {

int affinity_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

// CPUs of quota per period, or 0 if there is no quota ("max" or -1).
double quota_from(double quota, double period) { return quota > 0 && period > 0 ? quota / period : 0; }

double quota_v2(const std::string& folder) {
  std::ifstream file(folder + "/cpu.max");
  double quota = 0, period = 0;
  return file >> quota >> period ? quota_from(quota, period) : 0;
}

double quota_v1(const std::string& folder) {
  std::ifstream quota_file(folder + "/cpu.cfs_quota_us"), period_file(folder + "/cpu.cfs_period_us");
  double quota = 0, period = 0;
  return quota_file >> quota && period_file >> period ? quota_from(quota, period) : 0;
}

bool names_cpu_controller(const std::string& controllers) {
  std::istringstream list(controllers);
  for (std::string one; std::getline(list, one, ',');) {
    if (one == "cpu") return true;
  }
  return false;
}

// The least quota from the process's cgroup up to the root: a limit of any ancestor holds.
template <class Read>
double least_quota(const std::string& mount, std::string path, Read read) {
  double least = 0;
  for (;;) {
    const double quota = read(mount + path);
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos || path.empty()) return least;
    path.resize(slash);
  }
}

double cgroup_quota() {
  std::ifstream file("/proc/self/cgroup");
  double least = 0;
  for (std::string line; std::getline(file, line);) {  // "0::/path" (v2) or "4:cpu,cpuacct:/path" (v1)
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    double quota = 0;
    if (controllers.empty()) quota = least_quota("/sys/fs/cgroup", path, quota_v2);
    else if (names_cpu_controller(controllers)) quota = least_quota("/sys/fs/cgroup/cpu", path, quota_v1);
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
  }
  return least;
}

int read_threads() {
  int threads = affinity_threads();
  const double quota = cgroup_quota();
  if (quota > 0 && quota < threads) threads = static_cast<int>(quota + 0.999);
  return std::clamp(threads, 1, kMaxThreads);
}

}  // namespace

int hardware_threads() {
  static const int threads = read_threads();
  return threads;
}

}  // namespace plimsoll
