#pragma once

#include "device.h"

namespace plimsoll::cuda {

// Fills in what the device can do with a node; see plimsoll_support.
void answer_support(const plimsoll_device& device, const plimsoll_graph& graph, int32_t node,
                    plimsoll_support& support);

}  // namespace plimsoll::cuda
