// Arenas of the bench's models, beside what tests/models/arena_sizes.txt says: a change that makes one
// larger, or smaller, has to change that file too, and is seen in review. What kernels want as scratch
// depends on the processor, so there are two kinds of lines: "temporaries" is the plan without scratch, the
// same everywhere; "arena@<processor>" is all of it with two threads, compared where there are lines for the
// processor.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "device/cpu/gemm.h"
#include "models/models.h"
#include "passes/passes.h"
#include "plan/plan.h"
#include "plimsoll/error.h"
#include "plimsoll/program.h"

namespace plimsoll::testing {
namespace {

using Sizes = std::map<std::string, int64_t>;  // by the line's beginning: "temporaries mlp10_b32 train"

// oneDNN fits its blocks to the second level of the cache.
std::string processor() {
#ifdef _SC_LEVEL2_CACHE_SIZE
  const int64_t cache = ::sysconf(_SC_LEVEL2_CACHE_SIZE) >> 10;
#else
  const int64_t cache = 0;
#endif
  return concat(highway_target(), PLIMSOLL_HAVE_ONEDNN ? "+onednn" : "", "+", cache, "KiB");
}

void measure(Sizes& sizes, const std::string& row, const Graph& graph) {
  const Graph passed = run_passes(graph, {});
  sizes["temporaries " + row] = Plan::make(passed, {}).arena_bytes();
  CompileOptions options;
  options.threads = 2;
  sizes[concat("arena@", processor(), " ", row)] = Program::forecast(graph, options).arena;
}

Sizes measure_all() {
  Sizes sizes;
  for (const models::Model& m : models::bench_models()) {
    models::Weights train, predict;
    measure(sizes, concat(m.name, " train"), models::train_graph(m, train, m.batch));
    measure(sizes, concat(m.name, " predict"), models::predict_graph(m, predict, m.batch));
  }
  return sizes;
}

constexpr const char* kHead =
    "# Bytes of the arenas of the bench's models: see arena_sizes_test.cpp. Written by\n"
    "#   PLIMSOLL_WRITE_ARENA_SIZES=1 build/bin/arena_sizes_test\n";

Sizes read_sizes(const std::string& path) {
  Sizes sizes;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    const size_t at = line.find_last_of(' ');
    if (at != std::string::npos) sizes[line.substr(0, at)] = std::stoll(line.substr(at + 1));
  }
  return sizes;
}

void write_sizes(const std::string& path, const Sizes& sizes) {
  std::ofstream file(path);
  file << kHead;
  for (const auto& [row, bytes] : sizes) file << row << ' ' << bytes << '\n';
}

TEST(ArenaSizes, AreThoseOnRecord) {
  const std::string path = PLIMSOLL_ARENA_SIZES;
  Sizes recorded = read_sizes(path);
  const Sizes measured = measure_all();
  if (std::getenv("PLIMSOLL_WRITE_ARENA_SIZES") != nullptr) {
    for (const auto& [row, bytes] : measured) recorded[row] = bytes;
    write_sizes(path, recorded);
    return;
  }
  const bool known = recorded.contains(concat("arena@", processor(), " mlp10_b32 train"));
  std::ostringstream differences;
  for (const auto& [row, bytes] : measured) {
    if (row.starts_with("arena@") && !known) continue;
    const auto found = recorded.find(row);
    const int64_t before = found == recorded.end() ? 0 : found->second;
    if (bytes != before) differences << row << ": " << before << " -> " << bytes << '\n';
  }
  EXPECT_EQ(differences.str(), "") << "If this is meant, write the file anew and commit it:\n" << kHead;
}

}  // namespace
}  // namespace plimsoll::testing
