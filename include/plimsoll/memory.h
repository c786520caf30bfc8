// The memory line from a program's side: where it is, and how much lies below it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace plimsoll {

struct MemoryUse {
  int64_t engine = 0;       // bytes the engine holds by its account
  int64_t engine_peak = 0;  // the most it has held
  int64_t resident = 0;     // of the process, as the system says; 0: it does not
  int64_t resident_peak = 0;
  int64_t limit = 0;  // the line; INT64_MAX: none
};
MemoryUse memory_use();

// What the engine may hold, in bytes: "2GiB", "300MB", "60%" (of what this process could have), or plain
// bytes. Throws Error{invalid_argument} for anything else.
int64_t parse_memory(std::string_view text);
// Draws the line. It may lie below what is held: then only further requests are refused.
void set_memory_limit(int64_t bytes);

// "1.5 GiB".
std::string memory_text(int64_t bytes);

}  // namespace plimsoll
#pragma GCC visibility pop
