// The devices this process could run on, as `plimsoll devices` lists them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace plimsoll {

class Device;

struct DeviceInfo {
  std::string name;                 // "cpu", "cuda:0"; of a plug-in that cannot be used, its file
  std::string description;          // libraries, instruction set, threads
  int64_t memory_total = 0;         // bytes
  int64_t memory_free = 0;          // bytes it could still give to this process, limits not counted
  std::vector<std::string> limits;  // what holds this process below that, one sentence each
  std::string library;              // the file of the plug-in; empty: the CPU
  std::string problem;              // why it cannot be used; empty: it can
};

// The CPU is always there and comes first. Then those of plug-ins: of the files and folders in
// PLIMSOLL_DEVICES (separated by ':'), or, where that is not set, of the folder they are installed in.
std::vector<DeviceInfo> devices();

// "cuda:1"; "cuda" is the first of that kind; "cpu" is nullptr, as CompileOptions::device has it. Empty: the
// best there is, which is the first device of a plug-in that can be used, else the CPU. Throws
// Error{not_found} naming those there are, and why others cannot be used.
std::shared_ptr<Device> find_device(std::string_view name);

// Draws the line of a device of a plug-in, as set_memory_limit() does for the host; "4GiB", or "60%" of what
// the device has. Throws as find_device(), and Error{invalid_argument}.
void set_device_memory_limit(std::string_view device, std::string_view limit);

}  // namespace plimsoll
#pragma GCC visibility pop
