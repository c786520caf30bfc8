// The devices this process could run on, as `plimsoll devices` lists them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace plimsoll {

struct DeviceInfo {
  std::string name;                 // "cpu"
  std::string description;          // libraries, instruction set, threads
  int64_t memory_total = 0;         // bytes
  int64_t memory_free = 0;          // bytes it could still give to this process, limits not counted
  std::vector<std::string> limits;  // what holds this process below that, one sentence each
};

// The CPU is always there and comes first.
std::vector<DeviceInfo> devices();

}  // namespace plimsoll
#pragma GCC visibility pop
