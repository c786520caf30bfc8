#include "exec/prepare.h"

#include <gtest/gtest.h>

namespace plimsoll {
namespace {

TEST(ThreadsFor, LittleWorkStaysOnOneThread) {
  EXPECT_EQ(threads_for({.flops = 1e5, .bytes = 1e5}, 16), 1);
  EXPECT_EQ(threads_for({.flops = 1.9e6, .bytes = 5e5}, 16), 1);
}

TEST(ThreadsFor, MoreWorkGetsMoreThreads) {
  EXPECT_EQ(threads_for({.flops = 2e6, .bytes = 0}, 16), 2);
  EXPECT_EQ(threads_for({.flops = 0, .bytes = 1e6}, 16), 3);
  EXPECT_EQ(threads_for({.flops = 8e6, .bytes = 1e5}, 16), 8);
  EXPECT_EQ(threads_for({.flops = 1e9, .bytes = 1e6}, 16), 16);
  EXPECT_EQ(threads_for({.flops = 1e9, .bytes = 1e6}, 2), 2);
  EXPECT_EQ(threads_for({.flops = 1e9, .bytes = 1e6}, 1), 1);
}

}  // namespace
}  // namespace plimsoll
