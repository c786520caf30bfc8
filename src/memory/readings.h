// readings: what the system says about memory and processors: this process or another, the machine, control
// groups (v1 and v2), resource limits. Read anew at each call, nothing is kept; any thread may call. What the
// system does not tell is an empty optional, never an exception. Does not touch the account: the guard links
// it alone. Linux reads /proc and the cgroup file systems, macOS asks the kernel (readings_macos.cpp,
// untested).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::readings {

// All sizes are bytes.
struct Process {
  int64_t resident = 0;       // RSS; on macOS the physical footprint, which is what the system acts on
  int64_t anonymous = 0;      // the part of it that no file backs
  int64_t peak_resident = 0;  // the highest RSS so far
  int64_t swapped = 0;
  int64_t addresses = 0;  // virtual size
};
// Process 0 is the calling one.
std::optional<Process> process(int pid = 0);
// PSS: pages shared with other processes count in parts, so that a sum over processes is right. Slow (the
// kernel walks the page tables): some 10 ms for a GiB.
std::optional<int64_t> proportional(int pid = 0);

struct System {
  int64_t total = 0;
  int64_t available = 0;  // what can be had without swapping
  int64_t swap_total = 0;
  int64_t swap_free = 0;
};
std::optional<System> system();

// One control group, from the process's own up to the outermost that can be seen.
struct CgroupLevel {
  std::string folder;
  std::optional<int64_t> limit;  // hard; empty: none
  std::optional<int64_t> used;
  int64_t reclaimable = 0;            // the part of `used` that is clean file cache
  std::optional<int64_t> swap_limit;  // v2: of swap alone; v1: of memory and swap together
  std::optional<int64_t> oom_kills;   // so far, in this group
};
struct Cgroup {
  int version = 0;                  // of the hierarchy that governs memory: 1 or 2
  std::vector<CgroupLevel> levels;  // innermost first
  // v1 only: the limit that follows from all ancestors, even those a container cannot see.
  std::optional<int64_t> inherited_limit;

  std::optional<int64_t> limit() const;  // the least of all levels
  // The least that is left below any level's limit, file cache counted as free.
  std::optional<int64_t> room() const;
};
// Empty where memory is under no control group. `root` stands before every path read (for tests).
std::optional<Cgroup> cgroup(int pid = 0, const std::string& root = "");

// Of the last ten seconds, the percentage in which every task waited for memory (PSI, "full avg10"): of this
// process's group where the system keeps it by group (v2), else of the machine.
std::optional<double> memory_stalled(const std::string& root = "");

// Soft resource limits of this process; empty: unlimited.
struct Limits {
  std::optional<int64_t> addresses;  // RLIMIT_AS
  std::optional<int64_t> data;       // RLIMIT_DATA
};
Limits limits();

// How many processors this process may use: its affinity mask, and the cgroup's CPU quota rounded up. At
// least 1.
int usable_cpus();
// The quota alone, in processors (1.5); empty: none.
std::optional<double> cpu_quota(const std::string& root = "");

// The parsers, which take text so that they can be tested with any.
namespace parse {

std::optional<int64_t> number(std::string_view text);  // decimal, blanks around it allowed
// "max", and what v1 says for "no limit" (close to 2^63), are empty.
std::optional<int64_t> cgroup_limit(std::string_view text);
std::optional<double> cpu_max(std::string_view text);  // v2 "150000 100000" or "max 100000"
// The value behind `key` in lines such as "VmRSS:  1692 kB" or "inactive_file 4096"; kB are turned into
// bytes.
std::optional<int64_t> field(std::string_view text, std::string_view key);
std::optional<Process> status(std::string_view text);  // /proc/<pid>/status
// "full avg10=1.25 avg60=..." in /proc/pressure/memory and memory.pressure.
std::optional<double> stalled(std::string_view text);
std::optional<System> meminfo(std::string_view text);  // /proc/meminfo
// /proc/<pid>/cgroup: the path in the hierarchy of v1 controller `controller`, or of v2 if that is empty.
std::optional<std::string> cgroup_path(std::string_view text, std::string_view controller);
// /proc/<pid>/mountinfo: where that hierarchy is mounted, and which of its folders is seen there.
struct Mount {
  std::string point;
  std::string root;
};
std::optional<Mount> cgroup_mount(std::string_view text, std::string_view controller);
// The folder of a group: `path` as seen below a mount. The mount point itself if the path lies outside.
std::string cgroup_folder(const Mount& mount, std::string_view path);

}  // namespace parse
}  // namespace plimsoll::readings
