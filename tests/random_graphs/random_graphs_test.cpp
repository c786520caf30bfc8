// Thousands of random graphs: optimized, planned and fused equals the plain interpreter, forward and
// gradient. PLIMSOLL_RANDOM_GRAPHS=<first seed>:<count> runs others.
#include <gtest/gtest.h>

#include "random_graphs/check.h"

namespace plimsoll::testing {
namespace {

std::vector<Variant> variants() {
  std::vector<Variant> all(4);
  all[0].name = "optimized";
  all[0].options.threads = 1;
  all[1].name = "optimized, two threads, dead bytes poisoned";
  all[1].options.threads = 2;
  all[1].options.poison = true;
  all[2].name = "not optimized, planned";
  all[2].options.threads = 1;
  all[2].options.skip_passes = {"all"};
  all[3].name = "in ranges of rows, dead bytes poisoned";
  all[3].options.threads = 1;
  all[3].options.parts = 3;
  all[3].options.poison = true;
  return all;
}

constexpr uint64_t kBlock = 250;  // graphs per test, so that shards can share the work
constexpr int kBlocks = 8;

class RandomGraphs : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Blocks, RandomGraphs, ::testing::Range(0, kBlocks));

TEST_P(RandomGraphs, OptimizedProgramsMatchThePlainInterpreter) {
  EXPECT_EQ(first_failure({1 + static_cast<uint64_t>(GetParam()) * kBlock, kBlock}, variants()), "");
}

TEST(OtherRandomGraphs, OfTheEnvironment) {
  const auto seeds = seeds_of_environment();
  if (!seeds) GTEST_SKIP() << "PLIMSOLL_RANDOM_GRAPHS=<first seed>:<count> runs others";
  EXPECT_EQ(first_failure(*seeds, variants()), "");
}

}  // namespace
}  // namespace plimsoll::testing
