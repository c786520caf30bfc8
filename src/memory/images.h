// images: the files of the engine that are mapped into this process: the library (or the program it is linked
// into) and oneDNN. Any thread.
#pragma once

#include <cstdint>

namespace plimsoll::images {

// Bytes of their pages that are in memory, as the system counts them for this process; 0 where it does not
// tell.
int64_t in_memory() noexcept;
// The same of any range; all of it where the system does not tell.
int64_t in_memory(const void* start, int64_t bytes) noexcept;
// Takes the pages that nobody can have written out of this process's count; they are mapped again when they
// are next used.
void drop() noexcept;

}  // namespace plimsoll::images
