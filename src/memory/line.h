// Where the process's line comes from (plimsoll/memory.h: memory_sources()). Any thread.
#pragma once

#include <cstdint>

namespace plimsoll::line {

// Draws the line that PLIMSOLL_MEMORY names, once, unless one was drawn by a call. Throws
// Error{invalid_argument} each time if its text cannot be read.
void ensure();

// Whether set_memory_limit() or PLIMSOLL_MEMORY has drawn one.
bool drawn() noexcept;
// Counts the lines drawn so far: who works under one looks again when it has changed.
int64_t version() noexcept;
// While steps run under it a line that is drawn lower waits for the next boundary between two steps: until
// they have given back what is too much, nothing else is refused. apply() is that boundary.
void begin_steps() noexcept;
void end_steps() noexcept;
void apply() noexcept;
// Where one is drawn: gives free blocks back to the system and measures what it counts (memory/resident.h).
// `keep`: only more can come of it, while what is charged has not been touched yet. `untouched`: of that, what
// is known.
void measure(bool keep = false, int64_t untouched = 0);

// Bytes that could be taken now without going over what control groups, resource limits and free memory
// leave: a safe share of the least of them.
int64_t room();

// What the system says of itself between two steps.
struct Pressure {
  int64_t room = INT64_MAX;  // below the limit of the control group; INT64_MAX: there is none
  int64_t limit = 0;         // of it
  double stalled = 0;        // percent of the last ten seconds in which everyone waited for memory
};
Pressure pressure();
// For tests: what pressure() says instead of the system; nullptr: the system again.
void set_pressure(Pressure (*read)()) noexcept;
bool pressure_is_set() noexcept;

}  // namespace plimsoll::line
