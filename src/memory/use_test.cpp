#include <gtest/gtest.h>

#include "memory/account.h"
#include "plimsoll/memory.h"

namespace plimsoll {
namespace {

TEST(ParseMemory, TakesAShareOfWhatTheProcessCouldHave) {
  EXPECT_EQ(parse_memory("2GiB"), int64_t{2} << 30);
  EXPECT_GT(parse_memory("60%"), parse_memory("30%"));
}

TEST(MemoryUse, FollowsTheAccount) {
  const int64_t before = memory_use().engine;
  account::charge(Owner::data, 1 << 20);
  EXPECT_EQ(memory_use().engine, before + (1 << 20));
  account::release(Owner::data, 1 << 20);
  EXPECT_GE(memory_use().engine_peak, before + (1 << 20));
  EXPECT_GT(memory_use().resident, 0);
}

}  // namespace
}  // namespace plimsoll
