// Where the process's line comes from (plimsoll/memory.h: memory_sources()). Any thread.
#pragma once

#include <cstdint>

namespace plimsoll::line {

// Draws the line that PLIMSOLL_MEMORY names, once, unless one was drawn by a call. Throws
// Error{invalid_argument} each time if its text cannot be read.
void ensure();

// Bytes that could be taken now without going over what control groups, resource limits and free memory
// leave: a safe share of the least of them.
int64_t room();

}  // namespace plimsoll::line
