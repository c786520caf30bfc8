// Addresses without memory: for tensors whose types a plan needs and whose contents it does not.
#pragma once

#include <cstdint>
#include <memory>

#include "memory/buffer.h"

namespace plimsoll {

// Pages that nobody touches, not charged. Throws Error{out_of_memory} if there are no addresses left.
std::shared_ptr<Buffer> addresses(int64_t bytes);

}  // namespace plimsoll
