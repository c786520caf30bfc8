#if defined(__linux__)

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <thread>

#include "memory/readings.h"

namespace plimsoll::readings {
namespace {

// The files of /proc have no size: read until the end.
std::optional<std::string> read_file(const std::string& path) {
  struct File {
    int fd;
    ~File() { ::close(fd); }  // for want of memory too
  };
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  const File file{fd};
  std::string text;
  std::array<char, 4096> part;
  ssize_t count = 0;
  while ((count = ::read(fd, part.data(), part.size())) > 0)
    text.append(part.data(), static_cast<size_t>(count));
  if (count < 0) return std::nullopt;
  return text;
}

std::string proc(int pid, std::string_view file) {
  return "/proc/" + (pid == 0 ? std::string("self") : std::to_string(pid)) + "/" + std::string(file);
}

template <class Parser>
auto read_with(const std::string& path, Parser parser) -> decltype(parser(std::string_view())) {
  const std::optional<std::string> text = read_file(path);
  if (!text) return std::nullopt;
  return parser(*text);
}

std::optional<int64_t> field_of(const std::string& path, std::string_view key) {
  return read_with(path, [key](std::string_view text) { return parse::field(text, key); });
}

std::optional<CgroupLevel> level_v2(const std::string& folder) {
  const std::optional<std::string> limit = read_file(folder + "/memory.max");
  const std::optional<std::string> used = read_file(folder + "/memory.current");
  if (!limit && !used) return std::nullopt;  // the root, or memory is not controlled here
  CgroupLevel level;
  level.folder = folder;
  if (limit) level.limit = parse::cgroup_limit(*limit);
  if (used) level.used = parse::number(*used);
  level.reclaimable = field_of(folder + "/memory.stat", "inactive_file").value_or(0);
  level.swap_limit = read_with(folder + "/memory.swap.max", parse::cgroup_limit);
  level.oom_kills = field_of(folder + "/memory.events", "oom_kill");
  return level;
}

std::optional<CgroupLevel> level_v1(const std::string& folder) {
  const std::optional<std::string> used = read_file(folder + "/memory.usage_in_bytes");
  if (!used) return std::nullopt;
  CgroupLevel level;
  level.folder = folder;
  level.limit = read_with(folder + "/memory.limit_in_bytes", parse::cgroup_limit);
  level.used = parse::number(*used);
  level.reclaimable = field_of(folder + "/memory.stat", "total_inactive_file").value_or(0);
  level.swap_limit = read_with(folder + "/memory.memsw.limit_in_bytes", parse::cgroup_limit);
  level.oom_kills = field_of(folder + "/memory.oom_control", "oom_kill");
  return level;
}

// The folder of a process's group and those above it, innermost first.
std::vector<std::string> folders_upward(int pid, const std::string& root, std::string_view controller) {
  const std::optional<std::string> groups = read_file(root + proc(pid, "cgroup"));
  const std::optional<std::string> mounts = read_file(root + proc(pid, "mountinfo"));
  if (!groups || !mounts) return {};
  const std::optional<std::string> path = parse::cgroup_path(*groups, controller);
  const std::optional<parse::Mount> mount = parse::cgroup_mount(*mounts, controller);
  if (!path || !mount) return {};
  std::vector<std::string> folders;
  std::string folder = parse::cgroup_folder(*mount, *path);
  while (folder.size() > mount->point.size()) {
    folders.push_back(root + folder);
    folder.resize(folder.rfind('/'));
  }
  folders.push_back(root + mount->point);
  return folders;
}

std::optional<Cgroup> cgroup_of_version(int version, int pid, const std::string& root) {
  Cgroup group;
  group.version = version;
  for (const std::string& folder : folders_upward(pid, root, version == 1 ? "memory" : "")) {
    if (auto level = version == 1 ? level_v1(folder) : level_v2(folder))
      group.levels.push_back(std::move(*level));
  }
  if (group.levels.empty()) return std::nullopt;
  if (version == 1) {
    const auto inherited =
        field_of(group.levels.front().folder + "/memory.stat", "hierarchical_memory_limit");
    if (inherited) group.inherited_limit = parse::cgroup_limit(std::to_string(*inherited));
  }
  return group;
}

std::optional<int64_t> soft_limit(decltype(RLIMIT_AS) which) {
  rlimit limit{};
  if (::getrlimit(which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return static_cast<int64_t>(std::min<rlim_t>(limit.rlim_cur, INT64_MAX));
}

}  // namespace

std::optional<Process> process(int pid) { return read_with(proc(pid, "status"), parse::status); }

std::optional<int64_t> proportional(int pid) { return field_of(proc(pid, "smaps_rollup"), "Pss"); }

std::optional<System> system() { return read_with("/proc/meminfo", parse::meminfo); }

std::optional<Cgroup> cgroup(int pid, const std::string& root) {
  // In a hybrid setup v2 is mounted but v1 governs memory: v2 then has no memory files.
  if (auto group = cgroup_of_version(2, pid, root)) return group;
  return cgroup_of_version(1, pid, root);
}

std::optional<double> memory_stalled(const std::string& root) {
  for (const std::string& folder : folders_upward(0, root, "")) {
    if (const auto percent = read_with(folder + "/memory.pressure", parse::stalled)) return percent;
  }
  return read_with(root + "/proc/pressure/memory", parse::stalled);
}

Limits limits() { return {.addresses = soft_limit(RLIMIT_AS), .data = soft_limit(RLIMIT_DATA)}; }

std::optional<double> cpu_quota(const std::string& root) {
  std::optional<double> least;
  const auto take = [&least](std::optional<double> quota) {
    if (quota && (!least || *quota < *least)) least = quota;
  };
  for (const std::string& folder : folders_upward(0, root, "")) {
    take(read_with(folder + "/cpu.max", parse::cpu_max));
  }
  for (const std::string& folder : folders_upward(0, root, "cpu")) {
    const std::optional<std::string> quota = read_file(folder + "/cpu.cfs_quota_us");
    const std::optional<std::string> period = read_file(folder + "/cpu.cfs_period_us");
    if (quota && period) take(parse::cpu_max(quota->substr(0, quota->find('\n')) + " " + *period));
  }
  return least;
}

int usable_cpus() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  int count = static_cast<int>(std::thread::hardware_concurrency());
  // Fails on machines of more than 1,024 processors; the count of all is right enough there.
  if (::sched_getaffinity(0, sizeof(mask), &mask) == 0) count = CPU_COUNT(&mask);
  if (const std::optional<double> quota = cpu_quota())
    count = std::min(count, static_cast<int>(std::ceil(*quota)));
  return std::max(count, 1);
}

}  // namespace plimsoll::readings

#endif  // __linux__
