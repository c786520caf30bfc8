// Untested: written from the documentation of Mach's task_info and sysctl, never compiled on a Mac.
#if defined(__APPLE__)

#include <libproc.h>
#include <mach/mach.h>
#include <sys/resource.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "memory/readings.h"

namespace plimsoll::readings {
namespace {

std::optional<int64_t> soft_limit(int which) {
  rlimit limit{};
  if (::getrlimit(which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return static_cast<int64_t>(limit.rlim_cur);
}

}  // namespace

std::optional<Process> process(int pid) {
  rusage_info_v4 usage{};
  if (::proc_pid_rusage(pid == 0 ? ::getpid() : pid, RUSAGE_INFO_V4,
                        reinterpret_cast<rusage_info_t*>(&usage)) != 0) {
    return std::nullopt;
  }
  Process p;
  p.resident = static_cast<int64_t>(usage.ri_phys_footprint);
  p.anonymous = p.resident;
  p.peak_resident = static_cast<int64_t>(usage.ri_lifetime_max_phys_footprint);
  return p;
}

std::optional<int64_t> proportional(int pid) {
  // The footprint counts each page once, for the process that made it.
  const std::optional<Process> p = process(pid);
  if (!p) return std::nullopt;
  return p->resident;
}

std::optional<System> system() {
  System s;
  size_t size = sizeof(s.total);
  if (::sysctlbyname("hw.memsize", &s.total, &size, nullptr, 0) != 0) return std::nullopt;
  vm_statistics64_data_t pages{};
  mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
  const auto info = reinterpret_cast<host_info64_t>(&pages);
  if (::host_statistics64(::mach_host_self(), HOST_VM_INFO64, info, &count) == KERN_SUCCESS) {
    const int64_t free = int64_t{pages.free_count} + pages.inactive_count + pages.purgeable_count;
    s.available = free * ::sysconf(_SC_PAGESIZE);
  }
  xsw_usage swap{};
  size = sizeof(swap);
  if (::sysctlbyname("vm.swapusage", &swap, &size, nullptr, 0) == 0) {
    s.swap_total = static_cast<int64_t>(swap.xsu_total);
    s.swap_free = static_cast<int64_t>(swap.xsu_avail);
  }
  return s;
}

std::optional<Cgroup> cgroup(int, const std::string&) { return std::nullopt; }

std::optional<double> memory_stalled(const std::string&) { return std::nullopt; }

Limits limits() { return {.addresses = soft_limit(RLIMIT_AS), .data = soft_limit(RLIMIT_DATA)}; }

int usable_cpus() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

std::optional<double> cpu_quota(const std::string&) { return std::nullopt; }

}  // namespace plimsoll::readings

#endif  // __APPLE__
