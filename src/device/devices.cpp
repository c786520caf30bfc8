#include "plimsoll/devices.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>

#include "common/bytes.h"
#include "common/fork.h"
#include "common/log.h"
#include "common/own_folders.h"
#include "device/device.h"
#include "device/nvidia.h"
#include "device/plugin_library.h"
#include "memory/account.h"
#include "memory/readings.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> host_limits() {
  std::vector<std::string> found;
  if (account::limit() != account::kNoLimit)
    found.push_back(concat("the line is at ", bytes_text(account::limit())));
  if (const auto group = readings::cgroup(); group && group->limit()) {
    found.push_back(concat("the control group (v", group->version, ") allows ", bytes_text(*group->limit()),
                           ", ", bytes_text(group->room().value_or(0)), " are left"));
  }
  const readings::Limits limits = readings::limits();
  if (limits.addresses)
    found.push_back(concat("ulimit -v allows ", bytes_text(*limits.addresses), " of addresses"));
  if (limits.data) found.push_back(concat("ulimit -d allows ", bytes_text(*limits.data), " of data"));
  return found;
}

DeviceInfo host() {
  const auto system = readings::system();
  return {.name = "cpu",
          .description = describe_cpu(),
          .memory_total = system ? system->total : 0,
          .memory_free = system ? system->available : 0,
          .limits = host_limits(),
          .library = {},
          .problem = {}};
}

// A file stands for itself, a folder for the libraries in it.
void add_plugins(const fs::path& path, std::vector<std::string>& files) {
  std::error_code none;
  if (!fs::is_directory(path, none)) {
    files.push_back(path.string());
    return;
  }
  std::vector<std::string> inside;
  for (fs::directory_iterator it(path, none), end; it != end; it.increment(none)) {
    const std::string extension = it->path().extension().string();
    if (extension == ".so" || extension == ".dylib") inside.push_back(it->path().string());
  }
  std::ranges::sort(inside);
  files.insert(files.end(), inside.begin(), inside.end());
}

// lib/plimsoll/devices of where the engine was installed to: seen from bin/ and from lib/ itself.
void add_installed(std::vector<std::string>& files) {
  for (const fs::path& folder : own_folders()) {
    for (const fs::path& lib : {folder, folder / ".." / PLIMSOLL_LIBDIR}) {
      std::error_code none;
      const fs::path devices = fs::canonical(lib / "plimsoll" / "devices", none);
      if (!none && fs::is_directory(devices, none)) return add_plugins(devices, files);
    }
  }
}

std::vector<std::string> plugin_files() {
  std::vector<std::string> files;
  const char* const set = std::getenv("PLIMSOLL_DEVICES");
  if (set == nullptr) {
    add_installed(files);
    return files;
  }
  std::string_view rest = set;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(':'));
    if (!one.empty()) add_plugins(one, files);
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
  }
  return files;
}

// A device of a plug-in, or why there is none.
struct Found {
  std::string name, library, problem;
  std::shared_ptr<Device> device;
};

void add_devices(const std::string& file, std::vector<Found>& found) {
  std::string name = fs::path(file).filename().string();
  try {
    const PluginLibrary library(file);
    const int count = library.device_count();
    if (count <= 0)
      found.push_back({library.table().name, file, "it finds no device on this machine", nullptr});
    for (int i = 0; i < count; ++i) {
      name = concat(library.table().name, ":", i);
      found.push_back({name, file, {}, load_device(file, i)});
    }
  } catch (const Error& e) {
    found.push_back({name, file, e.what(), nullptr});
  }
}

// A GPU that is there and that nothing here can use. Who names the plug-ins has chosen.
void add_unserved(std::vector<Found>& found) {
  if (std::getenv("PLIMSOLL_DEVICES") != nullptr) return;
  const auto serves = [](const Found& f) { return f.name.starts_with("cuda"); };
  const std::string gpus = nvidia_gpus();
  if (gpus.empty() || std::ranges::any_of(found, serves)) return;
  found.push_back(
      {gpus, {}, "there is no plug-in for it: docs/cuda.md says how to build and install one", nullptr});
}

std::vector<Found> found_devices() {
  std::vector<Found> found;
  for (const std::string& file : plugin_files()) add_devices(file, found);
  add_unserved(found);
  return found;
}

DeviceInfo info_of(const Found& f) {
  DeviceInfo info;
  info.name = f.name;
  info.library = f.library;
  info.problem = f.problem;
  if (!f.device) return info;
  try {
    info.description = f.device->describe();
    const DeviceMemory memory = f.device->memory();
    info.memory_total = memory.total;
    info.memory_free = memory.free;
    if (const int64_t line = f.device->account().limit(); line != account::kNoLimit)
      info.limits.push_back(concat("the line is at ", bytes_text(line)));
  } catch (const Error& e) {
    info.problem = e.what();
  }
  return info;
}

bool is_called(const std::string& device, std::string_view name) {
  return device == name || device.substr(0, device.rfind(':')) == name;
}

// Once for each reason: a process may compile many models.
void warn_once(const Found& f) {
  static ForkMutex mutex{LockOrder::devices};
  static auto* const said = new std::set<std::string>;
  {
    const std::lock_guard lock(mutex);
    if (!said->insert(concat(f.name, " ", f.problem)).second) return;
  }
  warn(f.name, "cannot be used: ", f.problem);
}

std::shared_ptr<Device> best_device() {
  for (const Found& f : found_devices()) {
    if (f.device) return f.device;
    warn_once(f);
  }
  return nullptr;
}

}  // namespace

std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> all = {host()};
  for (const Found& f : found_devices()) all.push_back(info_of(f));
  return all;
}

std::shared_ptr<Device> find_device(std::string_view name) {
  if (name == "cpu") return nullptr;
  if (name.empty()) return best_device();
  std::string there = "cpu", unusable;
  for (const Found& f : found_devices()) {
    if (f.device && is_called(f.name, name)) return f.device;
    if (f.device) there += ", " + f.name;
    if (!f.device) unusable += concat("; ", f.name, " cannot be used: ", f.problem);
  }
  fail(ErrorKind::not_found, "device", "there is no device '", name, "'; there are ", there, unusable);
}

void set_device_memory_limit(std::string_view name, std::string_view limit) {
  const std::shared_ptr<Device> device = find_device(name);
  require(device != nullptr, "device", "expected a device of a plug-in, got '", name, "'");
  keep_device_limit(device->name(), parse_bytes(limit, device->memory().total));
}

}  // namespace plimsoll
