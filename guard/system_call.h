// What /proc tells of a process or a thread: its state and the system call it is in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>

namespace plimsoll::guard {

// "<number> <argument>..."; the number is -1 if it is in none, or it cannot be read.
struct Call {
  long number = -1;
  uint64_t arguments[6] = {};

  bool is(std::initializer_list<long> numbers) const {
    return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
  }
};
Call parse_call(const std::string& text);
Call read_call(const std::filesystem::path& task);

struct Stat {
  std::string name;
  char state = '?';
  double cpu = 0;
  double ended_children_cpu = 0;  // of those it has waited for, and of theirs
  int64_t major_faults = 0;
};
std::optional<Stat> read_stat(const std::filesystem::path& folder);

}  // namespace plimsoll::guard
