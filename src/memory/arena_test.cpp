#include "memory/arena.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "memory/account.h"
#include "memory/host.h"
#include "memory/readings.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

constexpr int64_t kReserve = int64_t{1} << 30;  // little enough for an emulator

ErrorKind kind_of_ensure(Arena& arena, int64_t bytes) {
  try {
    arena.ensure(bytes);
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "the bytes were given";
  return ErrorKind::internal;
}

TEST(Arena, GrowsWithoutMoving) {
  Arena arena(kReserve);
  arena.ensure(100);
  void* const base = arena.base();
  std::memset(base, 7, 100);
  arena.ensure(64 << 20);
  EXPECT_EQ(arena.base(), base);
  EXPECT_EQ(static_cast<char*>(base)[99], 7);
  EXPECT_EQ(static_cast<char*>(base)[(64 << 20) - 1], 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(base) % 64, 0u);
}

TEST(Arena, TakesNothingBeforeItIsAsked) {
  const int64_t requests = host::requests();
  Arena arena(kReserve);
  arena.ensure(0);
  EXPECT_EQ(arena.base(), nullptr);
  EXPECT_EQ(host::requests(), requests);
}

TEST(Arena, IsChargedForWhatIsUsableAndGivesItBack) {
  const int64_t before = account::used(Owner::arena);
  {
    Arena arena(kReserve);
    arena.ensure(10 << 20);
    EXPECT_EQ(account::used(Owner::arena) - before, 10 << 20);
    arena.ensure(5 << 20);
    EXPECT_EQ(account::used(Owner::arena) - before, 10 << 20);
    arena.trim(1 << 20);
    EXPECT_EQ(account::used(Owner::arena) - before, 1 << 20);
    EXPECT_EQ(arena.bytes(), 1 << 20);
  }
  EXPECT_EQ(account::used(Owner::arena), before);
}

TEST(Arena, TrimGivesPagesBackToTheSystem) {
  constexpr int64_t kBytes = 64 << 20;
  Arena arena(kReserve);
  arena.ensure(kBytes);
  std::memset(arena.base(), 1, kBytes);
  const int64_t full = readings::process()->resident;
  arena.trim();
  EXPECT_LE(readings::process()->resident, full - kBytes * 9 / 10);
  void* const base = arena.base();
  arena.ensure(8 << 20);
  EXPECT_EQ(arena.base(), base);
  EXPECT_EQ(static_cast<char*>(base)[4096], 0);
}

TEST(Arena, ARefusedGrowthLeavesItAsItWas) {
  Arena arena(kReserve);
  arena.ensure(1 << 20);
  std::memset(arena.base(), 9, 1 << 20);
  const int64_t used = account::used();
  const auto check = [&] {
    EXPECT_EQ(kind_of_ensure(arena, 32 << 20), ErrorKind::out_of_memory);
    EXPECT_EQ(arena.bytes(), 1 << 20);
    EXPECT_EQ(account::used(), used);
    EXPECT_EQ(static_cast<char*>(arena.base())[(1 << 20) - 1], 9);
  };
  account::fail_nth_charge(1);
  check();
  host::fail_nth(1);
  check();
  account::set_limit(used + (8 << 20));
  check();
  account::set_limit(account::kNoLimit);
  EXPECT_EQ(kind_of_ensure(arena, INT64_MAX), ErrorKind::out_of_memory);
  arena.ensure(32 << 20);
}

TEST(Arena, ReservesLessWhereMuchIsRefused) {
  Arena arena(kReserve);
  host::fail_nth(1);
  arena.ensure(1 << 20);
  EXPECT_EQ(arena.reserved(), kReserve / 2);
}

TEST(Arena, ReservesAsMuchAsItNeedsIfThatIsWanted) {
  Arena arena(0);
  arena.ensure(5000);
  EXPECT_EQ(arena.reserved(), arena.bytes());
  arena.trim();
  arena.ensure(9 << 20);
  EXPECT_EQ(arena.reserved(), 9 << 20);
}

TEST(Arena, IsRefusedWhatItsReservationCannotHold) {
  Arena arena(4 << 20);
  arena.ensure(1 << 20);
  EXPECT_EQ(kind_of_ensure(arena, 16 << 20), ErrorKind::out_of_memory);
  arena.trim();
  arena.ensure(16 << 20);  // empty: may reserve anew
  EXPECT_EQ(arena.bytes(), 16 << 20);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// In a child, since the limit cannot be lifted again. Sanitizers need more addresses than that.
TEST(Arena, WorksUnderALimitOnAddresses) {
  constexpr int kNoLimits = 77;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const rlimit limit{int64_t{1} << 30, int64_t{1} << 30};
    ::setrlimit(RLIMIT_AS, &limit);
    rlimit now{};
    if (::getrlimit(RLIMIT_AS, &now) != 0 || now.rlim_cur != limit.rlim_cur) ::_exit(kNoLimits);
    int failures = 0;
    try {
      Arena arena;
      arena.ensure(100 << 20);
      void* const base = arena.base();
      arena.ensure(200 << 20);
      failures += arena.base() != base;
      failures += arena.reserved() > (int64_t{1} << 28);
    } catch (const Error&) {
      failures = 100;
    }
    ::_exit(failures);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == kNoLimits) GTEST_SKIP() << "this system sets no limits (an emulator?)";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}
#endif

}  // namespace
}  // namespace plimsoll
