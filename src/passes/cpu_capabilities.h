// What the CPU can do: what the ops say about their tiles and kernels.
#pragma once

#include "graph/capabilities.h"

namespace plimsoll {

const Capabilities& cpu_capabilities();

}  // namespace plimsoll
