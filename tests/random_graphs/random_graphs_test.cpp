// Thousands of random graphs: optimized, planned and fused equals the plain interpreter, forward and
// gradient. PLIMSOLL_RANDOM_GRAPHS=<first seed>:<count> runs others.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "plimsoll/error.h"
#include "plimsoll/program.h"
#include "random_graphs/generator.h"
#include "support/compare.h"

namespace plimsoll::testing {
namespace {

// Relative to the largest element, after up to 24 steps and their gradients.
constexpr double kTolerance32 = 5e-4;
constexpr double kTolerance64 = 1e-10;
// Where sums are taken in another order, a value rounds to the next half: after a few steps some units of it.
constexpr double kTolerance16 = 2e-2;
constexpr double kToleranceBrain = 0.12;

double tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::f64: return kTolerance64;
    case DType::f16: return kTolerance16;
    case DType::bf16: return kToleranceBrain;
    default: return kTolerance32;
  }
}

// Values and gradients are of order 1, but some are zero by cancellation.
constexpr double kLeast = 0.1;

std::vector<Tensor> run(const Recipe& recipe, const CompileOptions& options) {
  const RandomGraph made = build(recipe);
  made.graph.verify();
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

struct Variant {
  const char* name;
  CompileOptions options;
};

std::vector<Variant> variants() {
  std::vector<Variant> all(3);
  all[0].name = "optimized";
  all[0].options.threads = 1;
  all[1].name = "optimized, two threads, dead bytes poisoned";
  all[1].options.threads = 2;
  all[1].options.poison = true;
  all[2].name = "not optimized, planned";
  all[2].options.threads = 1;
  all[2].options.skip_passes = {"all"};
  return all;
}

// Empty if every variant agrees with the plain interpreter.
std::string failure(const Recipe& recipe) {
  const double tolerance = tolerance_of(recipe.dtype);
  try {
    const std::vector<Tensor> want = run(recipe, plain());
    for (const Variant& variant : variants()) {
      const std::vector<Tensor> got = run(recipe, variant.options);
      for (size_t i = 0; i < want.size(); ++i) {
        const std::string how = difference(got[i], want[i], tolerance, kLeast);
        if (!how.empty()) return concat(variant.name, ", output ", i, ": ", how);
      }
    }
  } catch (const std::exception& e) {
    return concat("threw ", std::string(e.what()));
  }
  return "";
}

// Leaves out steps, large groups first, as long as what is left still fails.
Recipe shrink(Recipe recipe) {
  for (size_t group = recipe.steps.size() / 2; group > 0; group /= 2) {
    for (size_t at = 0; at + group <= recipe.steps.size();) {
      Recipe smaller = recipe;
      const auto from = smaller.steps.begin() + static_cast<ptrdiff_t>(at);
      smaller.steps.erase(from, from + static_cast<ptrdiff_t>(group));
      if (failure(smaller).empty()) {
        ++at;
      } else {
        recipe = smaller;
      }
    }
  }
  return recipe;
}

std::string text_of(const Recipe& recipe) {
  try {
    return build(recipe).graph.text();
  } catch (const std::exception& e) {
    return concat("(not built: ", std::string(e.what()), ")");
  }
}

constexpr uint64_t kBlock = 250;  // graphs per test, so that shards can share the work
constexpr int kBlocks = 8;

void check_graphs(uint64_t first, uint64_t count) {
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Recipe recipe = random_recipe(seed);
    if (failure(recipe).empty()) continue;
    const Recipe small = shrink(recipe);
    ADD_FAILURE() << "seed " << seed << ", " << failure(small) << "\n" << text_of(small);
    return;
  }
}

class RandomGraphs : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Blocks, RandomGraphs, ::testing::Range(0, kBlocks));

TEST_P(RandomGraphs, OptimizedProgramsMatchThePlainInterpreter) {
  check_graphs(1 + static_cast<uint64_t>(GetParam()) * kBlock, kBlock);
}

TEST(OtherRandomGraphs, OfTheEnvironment) {
  const char* range = std::getenv("PLIMSOLL_RANDOM_GRAPHS");
  if (range == nullptr) GTEST_SKIP() << "PLIMSOLL_RANDOM_GRAPHS=<first seed>:<count> runs others";
  char* rest = nullptr;
  const uint64_t first = std::strtoull(range, &rest, 10);
  check_graphs(first, *rest == ':' ? std::strtoull(rest + 1, nullptr, 10) : 1);
}

}  // namespace
}  // namespace plimsoll::testing
