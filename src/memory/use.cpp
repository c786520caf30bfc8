#include <algorithm>

#include "common/bytes.h"
#include "memory/account.h"
#include "memory/line.h"
#include "memory/readings.h"
#include "memory/resident.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"
#include "plimsoll/planning.h"

namespace plimsoll {
namespace {

// What this process could have at most: the machine's memory or the least limit around it.
int64_t whole_memory() {
  int64_t whole = int64_t{1} << 62;
  if (const auto system = readings::system()) whole = system->total;
  if (const auto group = readings::cgroup()) {
    if (const auto limit = group->limit()) whole = std::min(whole, *limit);
  }
  const readings::Limits limits = readings::limits();
  for (const auto& limit : {limits.addresses, limits.data}) {
    if (limit) whole = std::min(whole, *limit);
  }
  return whole;
}

}  // namespace

MemoryUse memory_use() {
  line::ensure();
  resident::ensure();
  MemoryUse use{.engine = account::used(), .engine_peak = account::peak(), .limit = account::limit()};
  if (const auto process = readings::process()) {
    use.resident = process->resident;
    use.resident_peak = process->peak_resident;
  }
  return use;
}

int64_t measure_memory() {
  line::measure();
  return resident::kNoise;
}

void count_whole_process() { resident::count_whole_process(); }

int64_t parse_memory(std::string_view text) { return parse_bytes(text, whole_memory()); }

std::string memory_text(int64_t bytes) { return bytes_text(bytes); }
std::string line_text(int64_t bytes) { return bytes_text_up(bytes); }

}  // namespace plimsoll
