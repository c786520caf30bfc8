// Who holds a GPU's memory, for messages.
#pragma once

#include <string>

#include "api.h"

namespace plimsoll::cuda {

// "ada's python3 (process 3124) has 120.5 GiB, process 881 has 2.0 GiB", the largest first, this process left
// out; empty: nobody, or nobody that can be seen (in a container, or without NVML).
std::string memory_holders(CUdevice device);

}  // namespace plimsoll::cuda
