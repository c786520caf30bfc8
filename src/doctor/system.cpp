#include "doctor/system.h"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

#include <charconv>
#include <cstdlib>
#include <algorithm>
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
  for (const std::string_view exact : {"HOME",
                                       "PATH",
                                       "TMPDIR",
                                       "VIRTUAL_ENV",
                                       "PYENV_VERSION",
                                       "PYENV_ROOT",
                                       "XDG_DATA_HOME",
                                       "XDG_CACHE_HOME",
                                       "LANG",
                                       "LC_ALL",
                                       "LC_CTYPE",
                                       "MPLBACKEND",
                                       "SSL_CERT_FILE",
                                       "REQUESTS_CA_BUNDLE",
                                       "CURL_CA_BUNDLE",
                                       "DISPLAY",
                                       "WAYLAND_DISPLAY",
                                       "QT_API",
                                       "HF_HOME",
                                       "HF_HUB_CACHE",
                                       "HF_HUB_ENABLE_HF_TRANSFER",
                                       "NLTK_DATA",
                                       "PROJ_LIB",
                                       "SM_FRAMEWORK",
                                       "PROJ_DATA",
                                       "SETUPTOOLS_USE_DISTUTILS"}) {
    if (name == exact) return true;
  }
  for (const std::string_view prefix :
       {"PYTHON",   "LD_",      "DYLD_",   "CONDA_",  "KERAS_", "TF_",   "XLA_",      "JAX_",
        "PYTORCH_", "TORCH",    "CUDA_",   "OMP_",    "KMP_",   "MKL_",  "OPENBLAS_", "PROTOCOL_BUFFERS_",
        "HDF5_",    "JUPYTER_", "NVIDIA_", "TRITON_", "NPY_",   "NUMBA_"}) {
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
  const std::pair<const char*, int> kinds[] = {
      {"as", RLIMIT_AS},       {"data", RLIMIT_DATA},   {"stack", RLIMIT_STACK}, {"nofile", RLIMIT_NOFILE},
      {"nproc", RLIMIT_NPROC}, {"fsize", RLIMIT_FSIZE}, {"cpu", RLIMIT_CPU}};
  for (const auto& [name, kind] : kinds) {
    rlimit limit{};
    if (::getrlimit(static_cast<decltype(RLIMIT_AS)>(kind), &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
      system.limits[name] = limit.rlim_cur;
      if (limit.rlim_max != RLIM_INFINITY) system.hard_limits[name] = limit.rlim_max;
    }
  }
}

std::optional<uint64_t> number_in(const std::filesystem::path& file) {
  const std::string text = read_text(file, 64).value_or("");
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

// How many more processes and threads the container may start.
void read_process_limit(System& system) {
  const std::string groups = read_text("/proc/self/cgroup", 1u << 16).value_or("");
  for (const std::string_view line : split(groups, "\n")) {
    const std::vector<std::string_view> parts = split(line, ":");
    if (parts.size() < 3 || (parts[0] != "0" && parts[1] != "pids")) continue;
    const std::string root = parts[0] == "0" ? "/sys/fs/cgroup" : "/sys/fs/cgroup/pids";
    for (const std::string& folder : {root + std::string(parts[2]), root}) {
      const auto most = number_in(folder + "/pids.max"), now = number_in(folder + "/pids.current");
      if (most && now) system.limits["pids"] = *most > *now ? *most - *now : 0;
    }
  }
}

// With overcommit off the system gives out no more memory than it has, used or not.
void read_promises(System& system) {
  if (number_in("/proc/sys/vm/overcommit_memory") != 2) return;
  const std::string text = read_text("/proc/meminfo", 1u << 16).value_or("");
  const auto field = [&](std::string_view name) -> uint64_t {
    const size_t at = text.find(name);
    uint64_t value = 0;
    if (at == std::string::npos) return 0;
    const size_t digits = text.find_first_of("0123456789", at + name.size());
    if (digits != std::string::npos) std::from_chars(text.data() + digits, text.data() + text.size(), value);
    return value * 1024;
  };
  const uint64_t limit = field("CommitLimit:"), given = field("Committed_AS:");
  system.limits["commit"] = limit > given ? limit - given : 0;
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

namespace {

bool is_noexec([[maybe_unused]] unsigned long flags) {
#ifdef ST_NOEXEC
  return (flags & ST_NOEXEC) != 0;
#else
  return false;
#endif
}

// Programs make what is missing of their folders: what counts is the last folder that is there.
bool cannot_write_below(std::filesystem::path folder) {
  if (!folder.is_absolute()) return false;
  std::error_code ignored;
  while (folder != folder.root_path() && !std::filesystem::exists(folder, ignored))
    folder = folder.parent_path();
  return ::access(folder.c_str(), W_OK) != 0;
}

}  // namespace

namespace {

// tempfile tries these, and the folder it is in.
bool lacks_temporary_folder(const System& system) {
  std::vector<std::string> folders = {"/tmp", "/var/tmp", "/usr/tmp", system.folder};
  for (const char* name : {"TMPDIR", "TEMP", "TMP"}) folders.emplace_back(system.variable(name));
  return std::none_of(folders.begin(), folders.end(), [](const std::string& folder) {
    return !folder.empty() && ::access(folder.c_str(), W_OK | X_OK) == 0;
  });
}

// Where Jupyter writes the connection files of kernels.
std::string jupyter_runtime(const System& system) {
  if (system.has_variable("JUPYTER_RUNTIME_DIR")) return std::string(system.variable("JUPYTER_RUNTIME_DIR"));
  if (system.has_variable("JUPYTER_DATA_DIR")) return concat(system.variable("JUPYTER_DATA_DIR"), "/runtime");
  if (system.os == "darwin") return concat(system.variable("HOME"), "/Library/Jupyter/runtime");
  if (system.has_variable("XDG_DATA_HOME"))
    return concat(system.variable("XDG_DATA_HOME"), "/jupyter/runtime");
  return concat(system.variable("HOME"), "/.local/share/jupyter/runtime");
}

// Of a proxy only the kind: the rest may hold a password.
bool is_proxy(std::string_view name) {
  const std::string lower = lower_case(name);
  return lower == "http_proxy" || lower == "https_proxy" || lower == "all_proxy";
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
  read_process_limit(system);
  read_promises(system);
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
    if (equals == std::string_view::npos) continue;
    if (is_proxy(text.substr(0, equals))) {
      const std::string_view value = text.substr(equals + 1);
      system.environment.emplace(text.substr(0, equals), value.substr(0, value.find("://")));
    }
    if (!variable_matters(text.substr(0, equals))) continue;
    system.environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  system.no_temporary_folder = lacks_temporary_folder(system);
  system.home_unwritable = cannot_write_below(std::string(system.variable("HOME")));
  if (const std::string folder = jupyter_runtime(system); cannot_write_below(folder))
    system.unwritable_runtime = folder;
  return system;
}

void read_disks(System& system, const std::string& environment, const std::string& packages) {
  std::string temporary(system.variable("TMPDIR"));
  if (temporary.empty()) temporary = "/tmp";
  const std::pair<std::string, std::string> places[] = {{"environment", environment},
                                                        {"packages", packages},
                                                        {"home", std::string(system.variable("HOME"))},
                                                        {"temporary files", temporary},
                                                        {"/dev/shm", "/dev/shm"}};
  for (const auto& [what, path] : places) {
    struct statvfs status {};
    if (path.empty() || ::statvfs(path.c_str(), &status) != 0) continue;
    system.disks.push_back({what, path, uint64_t{status.f_blocks} * status.f_frsize,
                            uint64_t{status.f_bavail} * status.f_frsize, is_noexec(status.f_flag),
                            status.f_files, status.f_favail});
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
  j["hard_limits"] = hard_limits;
  j["no_temporary_folder"] = no_temporary_folder;
  j["nvidia_driver"] = nvidia_driver;
  j["folder"] = folder;
  j["home_unwritable"] = home_unwritable;
  j["unwritable_runtime"] = unwritable_runtime;
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
    j["disks"].push_back({{"what", d.what},
                          {"path", d.path},
                          {"total", d.total},
                          {"free", d.free},
                          {"noexec", d.noexec},
                          {"files", d.files},
                          {"files_free", d.files_free}});
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
    s.hard_limits = j.value("hard_limits", s.hard_limits);
    s.no_temporary_folder = j.value("no_temporary_folder", false);
    s.nvidia_driver = j.value("nvidia_driver", "");
    s.home_unwritable = j.value("home_unwritable", false);
    s.unwritable_runtime = j.value("unwritable_runtime", "");
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
      s.disks.push_back({d.at("what"), d.at("path"), d.at("total"), d.at("free"), d.value("noexec", false),
                         d.value("files", uint64_t{0}), d.value("files_free", uint64_t{0})});
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
