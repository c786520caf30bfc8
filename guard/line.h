// The memory line: how much the kernel and all its descendants together may hold resident.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plimsoll::guard {

// "512MiB", "4GiB", "4GB", "4G", "1.5g", "60%" (of `whole`), or plain bytes.
// Throws Error{invalid_argument} if it is none of these, zero or negative.
int64_t parse_size(std::string_view text, int64_t whole);

struct Line {
  int64_t bytes = 0;   // 0: nothing to go by, no line is drawn
  std::string source;  // "--memory 4GiB", "90 % of the container's limit", …
};

// What was asked for, else PLIMSOLL_MEMORY, else nine tenths of the least of the machine's memory and the
// control group's limit.
Line choose_line(const std::string& asked);

}  // namespace plimsoll::guard
