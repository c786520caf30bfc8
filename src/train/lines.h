// "2GiB", "60%", "cuda:0=4GiB", several with commas: the lines that FitArgs::memory and forecast() take.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace plimsoll {

class Device;

struct LineOf {
  std::shared_ptr<Device> device;  // nullptr: the host
  int64_t bytes = 0;
};

// In the order in which they stand there. Throws Error{invalid_argument}, and Error{not_found} for a device
// that is not there.
std::vector<LineOf> lines_in(const std::string& memory);

}  // namespace plimsoll
