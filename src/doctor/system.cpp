#include "doctor/system.h"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "doctor/formats/mapped_file.h"
#include "doctor/python/text.h"
#include "memory/readings.h"
#include "plimsoll/error.h"

extern char** environ;

namespace plimsoll::doctor {
namespace {

// Only these go into the readings: a report must not carry somebody's secrets.
bool variable_matters(std::string_view name) {
  for (const std::string_view exact :
       {"HOME", "PATH", "TMPDIR", "VIRTUAL_ENV", "PYENV_VERSION", "PYENV_ROOT", "XDG_DATA_HOME",
        "XDG_CACHE_HOME", "MPLBACKEND", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"}) {
    if (name == exact) return true;
  }
  for (const std::string_view prefix :
       {"PYTHON",   "LD_",      "DYLD_",   "CONDA_", "KERAS_", "TF_",  "XLA_",      "JAX_",
        "PYTORCH_", "TORCH",    "CUDA_",   "OMP_",   "KMP_",   "MKL_", "OPENBLAS_", "PROTOCOL_BUFFERS_",
        "HDF5_",    "JUPYTER_", "NVIDIA_", "TRITON_"}) {
    if (name.starts_with(prefix)) return !contains(name, "TOKEN") && !contains(name, "PASSWORD");
  }
  return false;
}

void read_memory(System& system) {
  if (const auto memory = readings::system()) {
    system.memory_total = memory->total;
    system.memory_available = memory->available;
    system.swap_total = memory->swap_total;
  }
  if (const auto group = readings::cgroup()) {
    if (const auto limit = group->limit()) {
      system.container_limit = *limit;
      system.container_room = group->room();
    }
  }
}

void read_limits(System& system) {
  const std::pair<const char*, int> kinds[] = {{"as", RLIMIT_AS},       {"data", RLIMIT_DATA},
                                               {"stack", RLIMIT_STACK}, {"nofile", RLIMIT_NOFILE},
                                               {"nproc", RLIMIT_NPROC}, {"fsize", RLIMIT_FSIZE}};
  for (const auto& [name, kind] : kinds) {
    rlimit limit{};
    if (::getrlimit(static_cast<decltype(RLIMIT_AS)>(kind), &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
      system.limits[name] = limit.rlim_cur;
    }
  }
}

void read_machine(System& system) {
  utsname names{};
  if (::uname(&names) != 0) return;
  system.os = lower_case(names.sysname);
  system.machine = names.machine;
#ifdef __APPLE__
  int arm = 0;
  size_t size = sizeof arm;
  // A translated process sees x86_64 in uname; this says what the processor is.
  if (::sysctlbyname("hw.optional.arm64", &arm, &size, nullptr, 0) == 0) system.apple_silicon = arm != 0;
#endif
}

}  // namespace

std::set<std::string, std::less<>> parse_cpu_features(std::string_view cpuinfo) {
  std::set<std::string, std::less<>> features;
  for (const std::string_view line : split(cpuinfo, "\n")) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = trim(line.substr(0, colon));
    if (key != "flags" && key != "Features") continue;
    for (const std::string_view word : split(line.substr(colon + 1), " ")) {
      if (!word.empty()) features.emplace(word);
    }
    break;
  }
  return features;
}

System read_system() {
  System system;
  read_machine(system);
  if (const auto cpuinfo = read_text("/proc/cpuinfo")) system.cpu_features = parse_cpu_features(*cpuinfo);
  read_memory(system);
  read_limits(system);
  const std::string release = read_text("/etc/os-release", 1u << 16).value_or("");
  std::error_code ignored;
  system.folder = std::filesystem::current_path(ignored).string();
  for (const std::string_view line : split(release, "\n")) {
    if (line.starts_with("ID=")) system.distribution = line.substr(3);
  }
  std::erase(system.distribution, '"');
  if (const auto driver = read_text("/sys/module/nvidia/version")) system.nvidia_driver = trim(*driver);
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos || !variable_matters(text.substr(0, equals))) continue;
    system.environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return system;
}

void read_disks(System& system, const std::string& environment) {
  std::string temporary(system.variable("TMPDIR"));
  if (temporary.empty()) temporary = "/tmp";
  const std::pair<std::string, std::string> places[] = {{"environment", environment},
                                                        {"home", std::string(system.variable("HOME"))},
                                                        {"temporary files", temporary},
                                                        {"/dev/shm", "/dev/shm"}};
  for (const auto& [what, path] : places) {
    struct statvfs status {};
    if (path.empty() || ::statvfs(path.c_str(), &status) != 0) continue;
    system.disks.push_back({what, path, uint64_t{status.f_blocks} * status.f_frsize,
                            uint64_t{status.f_bavail} * status.f_frsize});
  }
}

std::string_view System::variable(std::string_view name) const {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string_view() : found->second;
}

const Disk* System::disk(std::string_view what) const {
  for (const Disk& disk : disks) {
    if (disk.what == what) return &disk;
  }
  return nullptr;
}

int System::x86_level() const {
  const auto all = [&](std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
      if (!has_cpu(name)) return false;
    }
    return true;
  };
  if (!has_cpu("sse2")) return 0;
  if (!all({"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"})) return 1;
  if (!all({"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"})) return 2;
  return all({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}) ? 4 : 3;
}

std::string System::json() const {
  nlohmann::json j = {{"os", os}, {"machine", machine}, {"apple_silicon", apple_silicon}};
  j["cpu_features"] = cpu_features;
  j["limits"] = limits;
  j["nvidia_driver"] = nvidia_driver;
  j["folder"] = folder;
  j["distribution"] = distribution;
  j["environment"] = environment;
  const auto put = [&](const char* key, std::optional<uint64_t> value) {
    if (value) j[key] = *value;
  };
  put("memory_total", memory_total);
  put("memory_available", memory_available);
  put("swap_total", swap_total);
  put("container_limit", container_limit);
  put("container_room", container_room);
  j["disks"] = nlohmann::json::array();
  for (const Disk& d : disks) {
    j["disks"].push_back({{"what", d.what}, {"path", d.path}, {"total", d.total}, {"free", d.free}});
  }
  return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

System System::from_json(std::string_view text) {
  try {
    nlohmann::json j = nlohmann::json::parse(text);
    if (j.contains("system")) j = nlohmann::json(j.at("system"));
    System s;
    s.os = j.value("os", "");
    s.machine = j.value("machine", "");
    s.apple_silicon = j.value("apple_silicon", false);
    for (const auto& feature : j.value("cpu_features", nlohmann::json::array())) {
      s.cpu_features.insert(feature.get<std::string>());
    }
    s.limits = j.value("limits", s.limits);
    s.nvidia_driver = j.value("nvidia_driver", "");
    s.folder = j.value("folder", "");
    s.distribution = j.value("distribution", "");
    const nlohmann::json variables = j.value("environment", nlohmann::json::object());
    for (const auto& [key, value] : variables.items()) {
      s.environment.emplace(key, value.get<std::string>());
    }
    const auto get = [&](const char* key) {
      return j.contains(key) ? std::optional(j.at(key).get<uint64_t>()) : std::nullopt;
    };
    s.memory_total = get("memory_total");
    s.memory_available = get("memory_available");
    s.swap_total = get("swap_total");
    s.container_limit = get("container_limit");
    s.container_room = get("container_room");
    for (const auto& d : j.value("disks", nlohmann::json::array())) {
      s.disks.push_back({d.at("what"), d.at("path"), d.at("total"), d.at("free")});
    }
    return s;
  } catch (const nlohmann::json::exception& e) {
    fail(ErrorKind::bad_file, "doctor",
         "the readings of a system cannot be understood: ", std::string(e.what()));
  }
}

std::string show_bytes(uint64_t bytes) {
  const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit) value /= 1024;
  char text[32];
  const bool whole = unit == 0 || value >= 100 || value == static_cast<double>(static_cast<uint64_t>(value));
  std::snprintf(text, sizeof text, whole ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

}  // namespace plimsoll::doctor
