#include "memory/account.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "plimsoll/error.h"

namespace plimsoll {
namespace {

// Leaves the account as it was, whatever the test did.
class Account : public testing::Test {
 protected:
  void TearDown() override {
    account::set_limit(account::kNoLimit);
    account::fail_nth_charge(0);
    EXPECT_EQ(account::used(), before_) << "the test itself leaks";
  }
  int64_t before_ = account::used();
};

ErrorKind kind_of_charge(int64_t bytes) {
  try {
    account::charge(Owner::data, bytes);
  } catch (const Error& error) {
    return error.kind();
  }
  account::release(Owner::data, bytes);
  ADD_FAILURE() << "the charge was taken";
  return ErrorKind::internal;
}

TEST_F(Account, CountsByOwnerAndInTotal) {
  const int64_t state = account::used(Owner::state);
  account::charge(Owner::state, 100);
  account::charge(Owner::data, 11);
  EXPECT_EQ(account::used(Owner::state), state + 100);
  EXPECT_EQ(account::used(), before_ + 111);
  account::release(Owner::state, 100);
  account::release(Owner::data, 11);
  EXPECT_EQ(account::used(Owner::state), state);
}

TEST_F(Account, RefusesWhatCrossesTheLineAndTakesNothing) {
  account::set_limit(before_ + 100);
  account::charge(Owner::data, 100);
  EXPECT_EQ(kind_of_charge(1), ErrorKind::out_of_memory);
  EXPECT_EQ(account::used(), before_ + 100);
  account::release(Owner::data, 100);
}

TEST_F(Account, SaysTheNumbersWhenItRefuses) {
  account::set_limit(before_ + 1024);
  try {
    account::charge(Owner::arena, 1 << 20);
    ADD_FAILURE() << "the charge was taken";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("1.0 MiB for arena would cross the line of"), std::string::npos) << text;
  }
}

TEST_F(Account, ALineBelowWhatIsUsedOnlyRefusesMore) {
  account::charge(Owner::data, 64);
  account::set_limit(0);
  EXPECT_EQ(kind_of_charge(1), ErrorKind::out_of_memory);
  account::release(Owner::data, 64);
}

TEST_F(Account, SumsNearTheEndOfTheIntegersDoNotOverflow) {
  account::charge(Owner::data, 64);
  EXPECT_EQ(kind_of_charge(INT64_MAX), ErrorKind::out_of_memory);
  EXPECT_EQ(kind_of_charge(-1), ErrorKind::invalid_argument);
  account::release(Owner::data, 64);
}

TEST_F(Account, PeakIsTheHighestTotalSinceReset) {
  account::reset_peak();
  account::charge(Owner::data, 1000);
  account::release(Owner::data, 1000);
  account::charge(Owner::data, 10);
  EXPECT_EQ(account::peak(), before_ + 1000);
  account::reset_peak();
  EXPECT_EQ(account::peak(), before_ + 10);
  account::release(Owner::data, 10);
}

TEST_F(Account, FailsTheChargeATestAsksFor) {
  account::fail_nth_charge(2);
  account::charge(Owner::data, 8);
  EXPECT_EQ(kind_of_charge(8), ErrorKind::out_of_memory);
  account::charge(Owner::data, 8);
  account::release(Owner::data, 16);
}

TEST_F(Account, ThreadsTogetherNeverCrossTheLine) {
  account::set_limit(before_ + 1000);
  account::reset_peak();
  const auto work = [] {
    for (int i = 0; i < 2000; ++i) {
      try {
        account::charge(Owner::data, 300);
        account::release(Owner::data, 300);
      } catch (const Error&) {
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(account::peak(), before_ + 1000);
  EXPECT_EQ(account::used(), before_);
}

TEST(Owner, EachHasAName) {
  for (int i = 0; i < kOwnerCount; ++i) EXPECT_FALSE(name_of(static_cast<Owner>(i)).empty());
}

// Gives up `count` things of 100 bytes.
class Giver final : public account::Reclaimer {
 public:
  explicit Giver(int count) : left(count) {
    begin_reclaiming();
    account::charge(Owner::programs, 100 * count);
  }
  ~Giver() {
    end_reclaiming();
    account::release(Owner::programs, 100 * left);
  }
  std::unique_ptr<Thing> give_up_one() noexcept override {
    if (left == 0) return nullptr;
    --left;
    return std::make_unique<Hundred>(*this);
  }
  int left;
  std::function<void()> at_end = [] {};

 private:
  struct Hundred final : Thing {
    explicit Hundred(const Giver& g) : giver(g) {}
    ~Hundred() override {
      giver.at_end();
      account::release(Owner::programs, 100);
    }
    const Giver& giver;
  };
};

TEST_F(Account, AsksReclaimersBeforeItRefuses) {
  Giver first(2), second(2);
  account::set_limit(account::used());
  account::charge(Owner::data, 250);
  EXPECT_EQ(first.left + second.left, 1);
  EXPECT_EQ(kind_of_charge(200), ErrorKind::out_of_memory);
  EXPECT_EQ(first.left + second.left, 0);
  account::release(Owner::data, 250);
}

// A destructor may wait for another thread, say for Python's lock, and that thread may charge.
TEST_F(Account, IsFreeForOthersWhileWhatIsGivenUpEnds) {
  Giver giver(3);
  bool free = false;
  std::atomic<bool> first{true};
  std::thread other;
  giver.at_end = [&] {
    if (!first.exchange(false)) return;
    std::packaged_task<bool()> ask(account::reclaim);
    std::future<bool> asked = ask.get_future();
    other = std::thread(std::move(ask));
    free = asked.wait_for(std::chrono::seconds(10)) == std::future_status::ready && asked.get();
  };
  EXPECT_TRUE(account::reclaim());
  other.join();
  EXPECT_TRUE(free);
  EXPECT_EQ(giver.left, 1);
}

// What another thread is giving up is waited for before a charge is refused.
TEST_F(Account, TakesWhatAnotherThreadIsGivingUp) {
  Giver giver(1);
  account::set_limit(account::used());
  std::promise<void> begun;
  std::atomic<bool> go{false};
  giver.at_end = [&] {
    begun.set_value();
    while (!go) std::this_thread::yield();
  };
  std::thread other([] { account::reclaim(); });
  begun.get_future().wait();
  std::thread opener([&] { go = true; });
  EXPECT_NO_THROW(account::charge(Owner::data, 100));
  opener.join();
  other.join();
  account::release(Owner::data, 100);
}

TEST_F(Account, AsksNobodyWhileThereIsRoom) {
  const Giver giver(1);
  account::set_limit(account::used() + 100);
  account::charge(Owner::data, 100);
  EXPECT_EQ(giver.left, 1);
  account::release(Owner::data, 100);
}

}  // namespace
}  // namespace plimsoll
