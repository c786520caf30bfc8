// The memory line from a program's side: where it is, and how much lies below it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plimsoll/error.h"

#pragma GCC visibility push(default)
namespace plimsoll {

struct MemoryUse {
  int64_t engine = 0;       // bytes the engine holds by its account, its code and threads among them
  int64_t engine_peak = 0;  // the most it has held
  int64_t resident = 0;     // of the process, as the system says; 0: it does not
  int64_t resident_peak = 0;
  int64_t limit = 0;  // the line; INT64_MAX: none
};
MemoryUse memory_use();

// What does not fit under the line, said before anything has changed. Of kind out_of_memory.
class MemoryLineError : public Error {
 public:
  struct Numbers {
    int64_t line = 0;   // what is allowed
    int64_t need = 0;   // what it would take without a line
    int64_t least = 0;  // the least line that would do
    int64_t batch = 0;  // the batch asked for, and the largest that fits; 0: not known, or none
    int64_t largest_batch = 0;
    // In how many parts the batch would fit with consent to them (micro_batch "auto"); 0: it would not, or
    // they were allowed.
    int64_t parts = 0;
    std::vector<std::pair<std::string, int64_t>> layers = {};  // that weigh most, heaviest first
  };
  MemoryLineError(std::string_view place, std::string_view message, Numbers numbers);
  const Numbers& numbers() const noexcept { return *numbers_; }

 private:
  std::shared_ptr<const Numbers> numbers_;  // an exception is copied without failing
};

// What the engine may hold, in bytes: "2GiB", "300MB", "60%" (of what this process could have), or plain
// bytes. Throws Error{invalid_argument} for anything else.
int64_t parse_memory(std::string_view text);
// Draws the line of the process: what the system counts of it for the engine, its code and threads included.
// It may lie below what is held: then further requests are refused, and a fit() that runs is planned anew
// before its next step. INT64_MAX: none.
void set_memory_limit(int64_t bytes);
// For a program with nothing in it but the engine, first of all: the line bounds the whole process.
void count_whole_process();

// Gives back to the system what can be made again: Programs that are kept, kernels of eager ops, free blocks,
// and pages of code that are in the file anyhow.
void give_back_memory() noexcept;

// One place that a line can come from.
struct MemorySource {
  std::string name;   // "PLIMSOLL_MEMORY", "cgroup v2 memory.max", ...
  int64_t bytes = 0;  // that it allows; INT64_MAX: it sets none
  bool decided = false;
};
// Where the line comes from: the call (set_memory_limit), else PLIMSOLL_MEMORY, else a safe share of the
// least that control groups, resource limits and free memory leave. All of them, and which one decided. A
// value of PLIMSOLL_MEMORY that cannot be read throws Error{invalid_argument}.
std::vector<MemorySource> memory_sources();

// "1.5 GiB".
std::string memory_text(int64_t bytes);

}  // namespace plimsoll
#pragma GCC visibility pop
