// System holds what the findings want to know of the machine: processor, memory, limits, disks,
// settings. A plain value: taken from this machine, or read from the JSON of another, so that a
// diagnosis can be made again elsewhere (and tests do not depend on the machine they run on).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::doctor {

struct Disk {
  std::string what;  // "environment", "packages", "home", "temporary files", "/dev/shm"
  std::string path;
  uint64_t total = 0, free = 0;
  bool noexec = false;                 // nothing on it may be run, nor native modules be loaded
  uint64_t files = 0, files_free = 0;  // how many files there can be (inodes); 0: no such limit
};

struct System {
  std::string os;       // linux, darwin
  std::string machine;  // x86_64, aarch64, arm64
  bool apple_silicon = false;
  std::set<std::string, std::less<>> cpu_features;  // as /proc/cpuinfo names them; empty: unknown
  std::optional<uint64_t> memory_total, memory_available, swap_total;
  std::optional<uint64_t> container_limit, container_room;
  // Soft resource limits that are set: "as", "data", "nofile" ...; "pids" and "commit" are what is left of
  // the processes of the container and of the memory that the system promises.
  std::map<std::string, uint64_t> limits;
  std::map<std::string, uint64_t> hard_limits;  // those that the user cannot raise
  std::vector<Disk> disks;
  bool no_temporary_folder = false;  // none of those that Python tries may be written
  bool home_unwritable = false;      // $HOME is not there and cannot be made, or may not be written
  std::string unwritable_runtime;    // Jupyter's folder for running kernels, where it may not be written
  std::string distribution;          // "debian", as /etc/os-release has it
  std::string folder;                // where the notebook or script is run
  std::string nvidia_driver;         // "550.54.14"; empty: no driver
  std::map<std::string, std::string, std::less<>> environment;  // the variables that matter here

  // The value of an environment variable; empty if unset.
  std::string_view variable(std::string_view name) const;
  bool has_variable(std::string_view name) const { return environment.contains(name); }
  const Disk* disk(std::string_view what) const;
  bool has_cpu(std::string_view feature) const { return cpu_features.contains(feature); }
  // x86-64 level (1 to 4) of this processor; 0 if unknown.
  int x86_level() const;

  std::string json() const;
  // Throws Error{bad_file} if `text` is not such a JSON object.
  static System from_json(std::string_view text);
};

System read_system();
// Adds the disks under the environment, its packages, the home folder, temporary files and /dev/shm.
void read_disks(System& system, const std::string& environment, const std::string& packages);
// The flags (or Features, on ARM) of the first processor in the text of /proc/cpuinfo.
std::set<std::string, std::less<>> parse_cpu_features(std::string_view cpuinfo);

// 1536 MiB as "1.5 GiB".
std::string show_bytes(uint64_t bytes);

}  // namespace plimsoll::doctor
