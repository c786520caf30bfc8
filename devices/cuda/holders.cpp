#include "holders.h"

#include <dirent.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <optional>
#include <vector>

#include "libraries.h"
#include "plimsoll/error.h"

namespace plimsoll::cuda {
namespace {

constexpr size_t kShown = 3;  // processes in a message

std::string link_of(const std::string& path) {
  std::array<char, 256> text{};
  const ssize_t size = readlink(path.c_str(), text.data(), text.size() - 1);
  return size > 0 ? std::string(text.data(), static_cast<size_t>(size)) : std::string();
}

bool has_gpu_open(const std::string& process) {
  DIR* const folder = opendir((process + "/fd").c_str());
  if (folder == nullptr) return false;
  bool found = false;
  while (const dirent* const entry = readdir(folder))
    found = found || link_of(process + "/fd/" + entry->d_name).starts_with("/dev/nvidia");
  closedir(folder);
  return found;
}

// The driver counts processes as the whole machine does. In a container the same number may be another
// process, unless that one can be seen to use a GPU.
bool is_the_one(const std::string& process) {
  return link_of("/proc/self/ns/pid") == "pid:[4026531836]" || has_gpu_open(process);
}

// "ada's python3"; empty: it cannot be told.
std::string name_of_process(unsigned pid) {
  const std::string process = concat("/proc/", pid);
  struct stat info;
  if (stat(process.c_str(), &info) != 0 || !is_the_one(process)) return {};
  std::string name;
  std::ifstream file(process + "/comm");
  std::getline(file, name);
  if (name.empty()) return {};
  std::array<char, 4096> text{};
  passwd entry{}, *user = nullptr;
  getpwuid_r(info.st_uid, &entry, text.data(), text.size(), &user);
  return user != nullptr ? concat(user->pw_name, "'s ", name) : name;
}

// No more than 64: with them it is a list anyway.
std::vector<NvmlProcess> processes_on(CUdevice device) {
  std::vector<NvmlProcess> list;
  const Nvml* const library = nvml();
  std::array<char, 64> bus{};
  if (library == nullptr || driver().bus_id(bus.data(), static_cast<int>(bus.size()), device) != kSuccess)
    return list;
  NvmlDevice handle = nullptr;
  unsigned count = 64;
  list.resize(count);
  const bool known = library->init() == 0 && library->device_at(bus.data(), &handle) == 0 &&
                     library->processes(handle, &count, list.data()) == 0;
  library->shutdown();
  list.resize(known ? std::min<size_t>(count, list.size()) : 0);
  return list;
}

std::string gib_text(unsigned long long bytes) {
  if (bytes == ~0ULL) return "an unknown part";  // not told, as by virtual GPUs
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f GiB", static_cast<double>(bytes) / (1 << 30));
  return text.data();
}

}  // namespace

std::string memory_holders(CUdevice device) {
  std::vector<NvmlProcess> list = processes_on(device);
  std::erase_if(list, [](const NvmlProcess& p) { return p.pid == static_cast<unsigned>(getpid()); });
  std::ranges::sort(list, std::ranges::greater{}, &NvmlProcess::bytes);
  std::string text;
  for (size_t i = 0; i < std::min(kShown, list.size()); ++i) {
    const std::string name = name_of_process(list[i].pid);
    const std::string who =
        name.empty() ? concat("process ", list[i].pid) : concat(name, " (process ", list[i].pid, ")");
    text += concat(i > 0 ? ", " : "", who, " has ", gib_text(list[i].bytes));
  }
  if (list.size() > kShown) text += concat(", and ", list.size() - kShown, " more");
  return text;
}

}  // namespace plimsoll::cuda
