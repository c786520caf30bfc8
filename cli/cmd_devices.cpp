// plimsoll devices: what the engine can run on, with which libraries, and how much memory there is.
#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "command.h"
#include "plimsoll/devices.h"
#include "plimsoll/memory.h"

namespace {

constexpr double kGiB = 1 << 30;

void print_line() {
  fmt::print(
      "memory line of a process, from the first that is set, else the least of the system's (nine tenths of "
      "it):\n");
  for (const plimsoll::MemorySource& s : plimsoll::memory_sources()) {
    const bool set = s.bytes != INT64_MAX;
    fmt::print("  {} {}: {}\n", s.decided ? "->" : "  ", s.name,
               set ? plimsoll::memory_text(s.bytes) : "not set");
  }
}

// TensorFlow's own settings of memory, where someone has set them: what becomes of them.
void print_tensorflow() {
  constexpr std::pair<const char*, const char*> kNames[] = {
      {"TF_FORCE_GPU_ALLOW_GROWTH", "memory is always taken as it is needed"},
      {"TF_GPU_ALLOCATOR", "there is one allocator, under the line"},
      {"TF_GPU_HOST_MEM_LIMIT_IN_MB", "the line of scripts under `plimsoll run`"},
      {"TF_CUDA_HOST_MEM_LIMIT_IN_MB", "the line of scripts under `plimsoll run`"},
      {"TF_MEMORY_ALLOCATION_TRACE", "see train --memory-report"}};
  for (const auto& [name, meaning] : kNames) {
    if (const char* value = std::getenv(name)) fmt::print("     {}={}: {}\n", name, value, meaning);
  }
}

void run() {
  for (const plimsoll::DeviceInfo& device : plimsoll::devices()) {
    if (!device.problem.empty()) {
      fmt::print("{}: cannot be used: {}\n", device.name, device.problem);
      if (!device.library.empty()) fmt::print("  plug-in: {}\n", device.library);
      continue;
    }
    fmt::print("{}: {}\n", device.name, device.description);
    if (!device.library.empty()) fmt::print("  plug-in: {}\n", device.library);
    fmt::print("  memory: {:.1f} GiB, {:.1f} GiB available\n",
               static_cast<double>(device.memory_total) / kGiB,
               static_cast<double>(device.memory_free) / kGiB);
    for (const std::string& limit : device.limits) fmt::print("  limit: {}\n", limit);
  }
  print_line();
  print_tensorflow();
}

}  // namespace

void cmd_devices(CLI::App& app) {
  app.add_subcommand("devices", "List what the engine can run on, with its libraries and memory")
      ->callback(run);
}
