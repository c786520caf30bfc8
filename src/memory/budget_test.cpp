#include "memory/budget.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "memory/arena.h"
#include "memory/buffer.h"
#include "memory/charge.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

TEST(Budget, CountsWhatItsScopeTakesUntilItIsReleased) {
  const auto budget = std::make_shared<Budget>();
  std::shared_ptr<Buffer> buffer;
  Arena arena;
  Charge charge;
  {
    const BudgetScope scope(budget);
    buffer = Buffer::make(5 << 20);
    arena.ensure(1 << 20);
    charge.set(Owner::programs, 1000);
  }
  EXPECT_EQ(Budget::current(), nullptr);
  EXPECT_EQ(budget->used(), buffer->charged() + arena.bytes() + 1000);
  arena.ensure(2 << 20);  // an arena stays where it began
  EXPECT_EQ(budget->used(), buffer->charged() + arena.bytes() + 1000);
  const std::shared_ptr<Buffer> other = Buffer::make(1 << 20);
  EXPECT_EQ(other->budget(), nullptr);
  std::thread([&] { buffer.reset(); }).join();
  arena.trim();
  charge.set(Owner::programs, 0);
  EXPECT_EQ(budget->used(), 0);
  EXPECT_GT(budget->peak(), 6 << 20);
}

TEST(Budget, RefusesWhatWouldCrossItsLineAndTakesNothing) {
  const auto budget = std::make_shared<Budget>(8 << 20);
  const BudgetScope scope(budget);
  const std::shared_ptr<Buffer> kept = Buffer::make(6 << 20);
  const int64_t used = account::used();
  try {
    Buffer::make(3 << 20);
    FAIL() << "it went over the line";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::out_of_memory);
    EXPECT_NE(std::string(e.what()).find("line of this fit"), std::string::npos) << e.what();
  }
  EXPECT_EQ(account::used(), used);
  EXPECT_EQ(budget->used(), kept->charged());
  Buffer::make(1 << 20);
}

TEST(Budget, TheProcessLineHoldsBesideIt) {
  const auto budget = std::make_shared<Budget>(1 << 30);
  const BudgetScope scope(budget);
  account::set_limit(account::used() + (1 << 20));
  EXPECT_THROW(Buffer::make(3 << 20), Error);
  account::set_limit(account::kNoLimit);
  EXPECT_EQ(budget->used(), 0);
}

TEST(Budget, APartCountsInItsWhole) {
  const auto part = std::make_shared<Budget>();
  std::shared_ptr<Buffer> held, more;
  {
    const BudgetScope scope(part);
    held = Buffer::make(2 << 20);
  }
  const auto whole = std::make_shared<Budget>(5 << 20);
  EXPECT_FALSE(part->has_line());
  part->set_whole(whole);
  EXPECT_TRUE(part->has_line());
  EXPECT_EQ(whole->used(), held->charged());
  {
    const BudgetScope scope(part);
    EXPECT_THROW(Buffer::make(4 << 20), Error);
    more = Buffer::make(1 << 20);
  }
  held.reset();
  EXPECT_EQ(whole->used(), more->charged());
  part->set_whole(nullptr);
  EXPECT_EQ(whole->used(), 0);
  EXPECT_EQ(part->used(), more->charged());
}

TEST(Budget, IsTheThreadsOwnAndNests) {
  const auto first = std::make_shared<Budget>(), second = std::make_shared<Budget>();
  const BudgetScope outer(first);
  {
    const BudgetScope inner(second);
    EXPECT_EQ(Budget::current(), second);
    const BudgetScope none(nullptr);
    EXPECT_EQ(Budget::current(), nullptr);
  }
  EXPECT_EQ(Budget::current(), first);
  std::thread([&] { EXPECT_EQ(Budget::current(), nullptr); }).join();
}

TEST(Budget, IsCountedRightByManyThreads) {
  const auto budget = std::make_shared<Budget>(1 << 20);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const BudgetScope scope(budget);
      for (int i = 0; i < 500; ++i) {
        try {
          const std::shared_ptr<Buffer> a = Buffer::make(100'000), b = Buffer::make(200'000);
        } catch (const Error& e) {
          EXPECT_EQ(e.kind(), ErrorKind::out_of_memory);
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(budget->used(), 0);
  EXPECT_LE(budget->peak(), 1 << 20);
}

}  // namespace
}  // namespace plimsoll
