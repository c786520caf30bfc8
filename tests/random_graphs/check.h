// Compares random graphs, run in some way, with the plain interpreter of the CPU.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plimsoll/program.h"
#include "random_graphs/generator.h"

namespace plimsoll::testing {

struct Variant {
  const char* name;
  CompileOptions options;
};

struct Seeds {
  uint64_t first = 1, count = 1;
};
// PLIMSOLL_RANDOM_GRAPHS=<first seed>:<count>, if that is set.
std::optional<Seeds> seeds_of_environment();

// Empty if each graph gives the plain interpreter's values in every variant; else the first that does not,
// made as small as it can be.
std::string first_failure(const Seeds& seeds, const std::vector<Variant>& variants);

}  // namespace plimsoll::testing
