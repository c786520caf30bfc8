// What a device of a plug-in says that it can do.
#pragma once

#include <memory>

#include "graph/capabilities.h"
#include "plimsoll/device.h"

namespace plimsoll {

// Valid as long as the device is open. Throws Error if the plug-in does not answer.
std::unique_ptr<Capabilities> device_capabilities(const plimsoll_device_table& table,
                                                  plimsoll_device* device);

}  // namespace plimsoll
