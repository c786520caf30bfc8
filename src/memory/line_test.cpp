#include "memory/line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "memory/account.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"

namespace plimsoll {
namespace {

const MemorySource* decided(const std::vector<MemorySource>& sources) {
  const auto found = std::ranges::find_if(sources, &MemorySource::decided);
  return found == sources.end() ? nullptr : &*found;
}

// Order matters: a line that was drawn by a call stays so.
TEST(Line, TheFirstSourceThatIsSetDecides) {
  ASSERT_EQ(unsetenv("PLIMSOLL_MEMORY"), 0);
  const int64_t before = account::limit();
  std::vector<MemorySource> all = memory_sources();
  ASSERT_NE(decided(all), nullptr);
  EXPECT_GT(decided(all)->bytes, 0);
  for (const MemorySource& s : all) EXPECT_GE(s.bytes, decided(all)->bytes) << s.name;
  EXPECT_EQ(account::limit(), before);

  setenv("PLIMSOLL_MEMORY", "a lot", 1);
  EXPECT_THROW(memory_sources(), Error);
  EXPECT_THROW(line::ensure(), Error);

  setenv("PLIMSOLL_MEMORY", "900GiB", 1);
  all = memory_sources();
  ASSERT_NE(decided(all), nullptr);
  EXPECT_EQ(decided(all)->name, "PLIMSOLL_MEMORY");
  EXPECT_EQ(account::limit(), int64_t{900} << 30);

  set_memory_limit(int64_t{800} << 30);
  all = memory_sources();
  ASSERT_NE(decided(all), nullptr);
  EXPECT_EQ(decided(all)->name, "set_memory_limit()");
  EXPECT_EQ(decided(all)->bytes, int64_t{800} << 30);
  unsetenv("PLIMSOLL_MEMORY");
  account::set_limit(before);
}

TEST(Line, WhatTheSystemLeavesIsMoreThanNothing) {
  EXPECT_GT(line::room(), 0);
  EXPECT_LT(line::room(), account::kNoLimit);
}

}  // namespace
}  // namespace plimsoll
