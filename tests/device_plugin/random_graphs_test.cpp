// Random graphs on a device, against the plain interpreter of the CPU. PLIMSOLL_RANDOM_GRAPHS=<first
// seed>:<count> runs others, PLIMSOLL_TEST_DEVICE names another plug-in.
#include "random_graphs/generator.h"

#include <cstdlib>

#include "device_plugin/interpreter.h"
#include "support/compare.h"

namespace plimsoll::testing {
namespace {

// As in tests/random_graphs: after up to 24 steps and their gradients, relative to the largest element.
double tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::f64: return 1e-10;
    case DType::f16: return 2e-2;
    case DType::bf16: return 0.12;
    default: return 5e-4;
  }
}
constexpr double kLeast = 0.1;  // some values are zero by cancellation

std::vector<Tensor> run(const Recipe& recipe, const CompileOptions& options) {
  const RandomGraph made = build(recipe);
  std::vector<Tensor> results = Program::compile(made.graph, options)(made.inputs);
  results.push_back(made.variable);
  return results;
}

CompileOptions plain() {
  CompileOptions options;
  options.threads = 1;
  options.skip_passes = {"all"};
  options.reference_kernels = true;
  options.no_reuse = true;
  return options;
}

// Empty if the device gives the CPU's values.
std::string failure(const Recipe& recipe, const CompileOptions& options) {
  try {
    const std::vector<Tensor> want = run(recipe, plain()), got = run(recipe, options);
    for (size_t i = 0; i < want.size(); ++i) {
      const std::string how = difference(got[i], want[i], tolerance_of(recipe.dtype), kLeast);
      if (!how.empty()) return concat("output ", i, ": ", how);
    }
  } catch (const std::exception& e) {
    return concat("threw ", std::string(e.what()));
  }
  return "";
}

// Leaves out steps, one by one, as long as what is left still fails.
Recipe shrink(Recipe recipe, const CompileOptions& options) {
  for (size_t at = 0; at < recipe.steps.size();) {
    Recipe smaller = recipe;
    smaller.steps.erase(smaller.steps.begin() + static_cast<ptrdiff_t>(at));
    if (failure(smaller, options).empty())
      ++at;
    else
      recipe = smaller;
  }
  return recipe;
}

void check_graphs(uint64_t first, uint64_t count, const std::string& modes) {
  const CompileOptions options = on(open_tested_device(modes));
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Recipe recipe = random_recipe(seed);
    if (failure(recipe, options).empty()) continue;
    const Recipe small = shrink(recipe, options);
    ADD_FAILURE() << "seed " << seed << ", " << failure(small, options) << "\n" << build(small).graph.text();
    return;
  }
}

class DeviceGraphs : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Modes, DeviceGraphs,
                         ::testing::Values("", "no_in_place", "fuse", "fuse_folds",
                                           "no_in_place,fuse_folds"));

TEST_P(DeviceGraphs, MatchThePlainInterpreterOfTheCpu) {
  uint64_t first = 1, count = 100;
  if (const char* range = std::getenv("PLIMSOLL_RANDOM_GRAPHS")) {
    char* rest = nullptr;
    first = std::strtoull(range, &rest, 10);
    count = *rest == ':' ? std::strtoull(rest + 1, nullptr, 10) : 1;
  }
  check_graphs(first, count, GetParam());
}

}  // namespace
}  // namespace plimsoll::testing
