// One generated case in a process of its own, under a line of the whole process. Exits with 0 if it trains
// with the process never above the line, or is refused before the first batch with its weights untouched and
// a least line with which it then trains and below which, by 5 percent, it is refused. Prints what it saw.
//
//   line_case SEED [SCALE [FILE]]
//
// FILE: the hard limit of the control group it runs in, which is set a little over each line.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "line_cases/generated.h"
#include "memory/pool.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"

namespace {

using namespace plimsoll;
using plimsoll::testing::Generated;

// From here on the system's highest count is of what follows.
void forget_peak() {
  pool::trim();
  if (std::FILE* f = std::fopen("/proc/self/clear_refs", "w")) {
    std::fputs("5", f);
    std::fclose(f);
  }
}

constexpr int64_t kOver = 2 << 20;  // page tables and the like, which the group counts and the line does not
std::string group_limit;

void set_group_limit(int64_t bytes) {
  if (group_limit.empty()) return;
  std::ofstream file(group_limit);
  file << bytes << std::flush;
  require(bool(file), group_limit, "cannot be set to ", bytes);
}

struct Seen {
  bool trained = false;
  int64_t least = 0, line = 0, over = 0;
};

Seen fit_under(Generated& g, int64_t line) {
  Seen seen{.line = line};
  set_memory_limit(line);
  forget_peak();
  set_group_limit(line + kOver);
  try {
    g.fit();
    seen.trained = true;
    seen.over = memory_use().resident_peak - line;
  } catch (const MemoryLineError& e) {
    seen.least = e.numbers().least;
  }
  set_memory_limit(INT64_MAX);
  set_group_limit(-1);
  return seen;
}

int fail_with(const char* what, const Seen& s) {
  std::printf("FAILED %s line %lld least %lld over %lld\n", what, static_cast<long long>(s.line),
              static_cast<long long>(s.least), static_cast<long long>(s.over));
  return 1;
}

int check(uint32_t seed, int64_t scale) {
  count_whole_process();
  Generated g(seed, scale);
  g.line += static_cast<int64_t>(seed % 4) << 20;  // of small models the arena is less than what is measured
  const std::vector<char> before = testing::bytes_of(g.model);
  Seen first = fit_under(g, g.line);
  if (first.trained) {
    if (first.over > 0) return fail_with("over the line", first);
    std::printf("trained line %lld below %lld\n", static_cast<long long>(g.line),
                static_cast<long long>(-first.over));
    return 0;
  }
  if (g.batches != 0) return fail_with("refused after a batch", first);
  if (testing::bytes_of(g.model) != before) return fail_with("refused and changed", first);
  if (first.least <= g.line) return fail_with("least below the line", first);
  const int64_t lower = first.least - first.least / 20;
  if (lower > g.line) {
    const Seen below = fit_under(g, lower);
    if (below.trained) return fail_with("trains 5 percent below its least", below);
  }
  const Seen least = fit_under(g, first.least);
  if (!least.trained) return fail_with("refused at its least", least);
  if (least.over > 0) return fail_with("over its least", least);
  std::printf("refused line %lld least %lld below %lld\n", static_cast<long long>(g.line),
              static_cast<long long>(first.least), static_cast<long long>(-least.over));
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) return 2;
  if (argc > 3) group_limit = argv[3];
  return check(static_cast<uint32_t>(std::stoul(argv[1])), argc > 2 ? std::stoll(argv[2]) : 1);
} catch (const std::exception& e) {
  std::printf("FAILED %s\n", e.what());
  return 1;
}
