#include "exec/kept.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "memory/charge.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

struct Thing {
  Thing(std::string n, int64_t bytes) : name(std::move(n)), charge(std::make_unique<Charge>()) {
    charge->set(Owner::programs, bytes);
  }
  std::string name;
  std::unique_ptr<Charge> charge;
};

class KeptThings : public ::testing::Test {
 protected:
  ~KeptThings() override { account::set_limit(account::kNoLimit); }

  Kept<Thing>::Loan add(const std::string& name, int64_t bytes = 100) {
    return kept.add(name.size(), Thing(name, bytes), bytes);
  }
  Kept<Thing>::Loan find(const std::string& name) {
    return kept.find(name.size(), [&](const Thing& t) { return t.name == name; });
  }
  bool has(const std::string& name) { return static_cast<bool>(find(name)); }

  const int64_t before = account::used(Owner::programs);
  Kept<Thing> kept;
};

TEST_F(KeptThings, AreFoundByMoreThanTheirHash) {
  add("a");
  add("b");
  EXPECT_EQ(find("a")->name, "a");
  EXPECT_EQ(find("b")->name, "b");
  EXPECT_FALSE(has("c"));
  EXPECT_EQ(kept.bytes(), 200);
}

TEST_F(KeptThings, GoOneByOneTheLeastRecentlyUsedFirst) {
  for (const char* name : {"a", "b", "c"}) add(name);
  EXPECT_TRUE(has("a"));
  kept.keep_within(200);
  EXPECT_FALSE(has("b"));
  EXPECT_TRUE(has("a") && has("c"));
  EXPECT_EQ(account::used(Owner::programs), before + 200);
}

TEST_F(KeptThings, AreLentToOneAtATimeAndStayMeanwhile) {
  add("a");
  const Kept<Thing>::Loan mine = find("a");
  ASSERT_TRUE(mine);
  EXPECT_FALSE(has("a"));
  const Kept<Thing>::Loan second = add("a");  // what a second user makes for itself
  kept.keep_within(0);
  kept.drop_if([](const Thing&) { return true; });
  EXPECT_EQ(kept.size(), 2u);
  EXPECT_EQ(mine->name, "a");
}

TEST_F(KeptThings, GoBeforeAChargeIsRefused) {
  const Kept<Thing>::Loan used = add("in use");
  for (const char* name : {"a", "b", "c"}) add(name);
  account::set_limit(account::used());
  Charge charge;
  charge.set(Owner::data, 150);
  EXPECT_FALSE(has("a") || has("b"));
  EXPECT_TRUE(has("c"));
  EXPECT_THROW(charge.set(Owner::data, 150 + 150 + 51), Error) << "more than all that can go";
  EXPECT_EQ(kept.size(), 1u);
  EXPECT_EQ(used->name, "in use");
}

TEST_F(KeptThings, ThatAreHeldGoOnlyForTheThreadThatHoldsThem) {
  add("a");
  kept.hold(true);
  account::set_limit(account::used());
  std::thread([] {
    Charge charge;
    EXPECT_THROW(charge.set(Owner::staging, 50), Error);
  }).join();
  EXPECT_TRUE(has("a"));
  Charge charge;
  charge.set(Owner::data, 50);
  EXPECT_FALSE(has("a"));
  kept.hold(false);
}

TEST_F(KeptThings, OfManyThreadsAreNeverLentTwice) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int turn = 0; turn < 500; ++turn) {
        const std::string name(static_cast<size_t>(1 + turn % 7), 'x');
        Kept<Thing>::Loan loan = find(name);
        if (!loan) loan = add(name);
        const std::string seen = std::exchange(loan->name, std::to_string(i));
        std::this_thread::yield();
        EXPECT_EQ(std::exchange(loan->name, seen), std::to_string(i));
        EXPECT_EQ(seen, name);
        kept.keep_within(500);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  kept.keep_within(0);
  EXPECT_EQ(account::used(Owner::programs), before);
}

// One for the process: what one thread has made serves the next, and goes when the line wants it.
TEST(EagerKernels, AreChargedSharedByThreadsAndGivenUp) {
  const auto call = [](int64_t n) {
    return Tensor::full(DType::f32, {n}, 2) + Tensor::full(DType::f32, {n}, 3);
  };
  call(1);
  const auto grown = [&](int64_t from, int64_t to) {
    const int64_t held = account::used(Owner::programs);
    for (int64_t n = from; n < to; ++n) call(n);
    return account::used(Owner::programs) - held;
  };
  EXPECT_GT(grown(1000, 1100), 0);
  int64_t again = -1;
  std::thread([&] { again = grown(1000, 1100); }).join();
  EXPECT_EQ(again, 0);
  constexpr int64_t kMost = 64 << 20;
  grown(2000, 22000);
  EXPECT_LT(account::used(Owner::programs), kMost);
  EXPECT_EQ(grown(21900, 22000), 0) << "those last used are kept";

  account::set_limit(account::used() + 1024);
  Charge charge;
  EXPECT_NO_THROW(charge.set(Owner::data, 1 << 20));
  account::set_limit(account::kNoLimit);
}

}  // namespace
}  // namespace plimsoll
