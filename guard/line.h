// The memory line: how much the kernel and all its descendants together may hold resident.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plimsoll::guard {

struct Line {
  int64_t bytes = 0;   // 0: nothing to go by, no line is drawn
  std::string source;  // "--memory 4GiB", "90 % of the container's limit", …
};

// What was asked for, else PLIMSOLL_MEMORY, else nine tenths of the least of the machine's memory and the
// control group's limit.
Line choose_line(const std::string& asked);

// When it is reached at this growth in bytes per second, or that it has been: the end of a warning. Empty if
// neither is to be said.
std::string when_reached(int64_t line, int64_t resident, double growth);

}  // namespace plimsoll::guard
