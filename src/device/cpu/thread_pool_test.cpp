#include "device/cpu/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

namespace plimsoll {
namespace {

TEST(ThreadPool, HardwareThreadsIsAtLeastOne) { EXPECT_GE(hardware_threads(), 1); }

TEST(ThreadPool, EveryChunkRunsOnce) {
  for (int threads : {1, 2, 3, 4, 40}) {
    for (int64_t chunks : {0, 1, 2, 3, 17, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<size_t>(chunks));
      std::atomic<bool> index_ok{true};
      parallel_for(chunks, threads, [&](int64_t c, int t) noexcept {
        runs[static_cast<size_t>(c)].fetch_add(1);
        if (t < 0 || t >= threads) index_ok = false;
      });
      for (auto& r : runs) EXPECT_EQ(r.load(), 1);
      EXPECT_TRUE(index_ok);
    }
  }
}

TEST(ThreadPool, EachThreadBeginsWithItsOwnPart) {
  if (available_threads(2) < 2) GTEST_SKIP() << "the system gives no two threads";
  std::array<std::atomic<int64_t>, 2> first{-1, -1};
  std::atomic<int> begun{0};
  parallel_for(9, 2, [&](int64_t chunk, int thread) noexcept {
    int64_t none = -1;
    if (first[static_cast<size_t>(thread)].compare_exchange_strong(none, chunk)) begun.fetch_add(1);
    while (begun.load() < 2) std::this_thread::yield();  // nobody is done before the other has begun
  });
  EXPECT_EQ(first[0].load(), 0);
  EXPECT_EQ(first[1].load(), 5);
}

TEST(ThreadPool, OneThreadStaysOnTheCaller) {
  const auto me = std::this_thread::get_id();
  bool same = true;
  parallel_for(10, 1, [&](int64_t, int) noexcept { same &= std::this_thread::get_id() == me; });
  parallel_for(1, 4, [&](int64_t, int) noexcept { same &= std::this_thread::get_id() == me; });
  EXPECT_TRUE(same);
}

TEST(ThreadPool, PlainWritesOfABodyAreSeenAfterwards) {
  std::vector<int64_t> out(5000);
  for (int round = 0; round < 200; ++round) {
    parallel_for(50, 4, [&](int64_t c, int) noexcept {
      for (int64_t i = 0; i < 100; ++i) out[static_cast<size_t>(c * 100 + i)] += i;
    });
  }
  EXPECT_EQ(std::accumulate(out.begin(), out.end(), int64_t{0}), 200 * 50 * 4950);
}

TEST(ThreadPool, NestedCallsRunSerially) {
  std::atomic<int> inner{0}, wrong{0};
  parallel_for(8, 3, [&](int64_t, int) noexcept {
    const auto me = std::this_thread::get_id();
    parallel_for(5, 3, [&](int64_t, int) noexcept {
      inner.fetch_add(1);
      if (std::this_thread::get_id() != me) wrong.fetch_add(1);
    });
  });
  EXPECT_EQ(inner.load(), 40);
  EXPECT_EQ(wrong.load(), 0);
}

TEST(ThreadPool, SeveralCallersAtOnceAllFinish) {
  std::vector<std::thread> callers;
  std::atomic<int64_t> sum{0};
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        ParallelRegion region;
        parallel_for(10, 2, [&](int64_t c, int) noexcept { sum.fetch_add(c); });
      }
    });
  }
  for (auto& t : callers) t.join();
  EXPECT_EQ(sum.load(), 4 * 100 * 45);
}

struct BarrierCheck {
  std::atomic<int> arrived{0};
  std::atomic<int> early{0};
};

void meet(void* context, int) {
  auto& check = *static_cast<BarrierCheck*>(context);
  for (int round = 1; round <= 50; ++round) {
    check.arrived.fetch_add(1);
    team::barrier();
    if (check.arrived.load() < round * 3) check.early.fetch_add(1);
    team::barrier();
  }
}

TEST(ThreadPool, ATeamMeetsAtItsBarriers) {
  const int size = available_threads(3);
  if (size < 3) GTEST_SKIP() << "the system gives no three threads";
  BarrierCheck check;
  team::begin(team::Kind::whole, size, meet, &check);
  EXPECT_EQ(team::place().size, 3);
  EXPECT_TRUE(team::inside());
  meet(&check, 0);
  team::end();
  EXPECT_FALSE(team::inside());
  EXPECT_EQ(check.arrived.load(), 150);
  EXPECT_EQ(check.early.load(), 0);
}

struct RunCount {
  std::array<std::atomic<int>, 400> runs{};
  std::atomic<int> wrong{0};
};

void count_run(void* context, int index) {
  auto& count = *static_cast<RunCount*>(context);
  count.runs[static_cast<size_t>(index)].fetch_add(1);
  if (team::place().index != index || !team::inside()) count.wrong.fetch_add(1);
}

TEST(ThreadPool, EveryMemberOfATeamOfEachRunsOnceWhateverTheThreads) {
  for (const int size : {2, 3, 40, 300}) {
    RunCount count;
    team::begin(team::Kind::each, size, count_run, &count);
    EXPECT_EQ(team::place().size, size);
    count_run(&count, 0);
    team::end();
    for (int i = 0; i < 400; ++i) EXPECT_EQ(count.runs[static_cast<size_t>(i)].load(), i < size ? 1 : 0);
    EXPECT_EQ(count.wrong.load(), 0);
    EXPECT_FALSE(team::inside());
  }
}

// Three threads of the application, teams of all kinds and changing sizes: a worker that comes late to one
// team must do no harm to the next.
TEST(ThreadPool, TeamsFollowEachOtherWithoutWaitingForLateWorkers) {
  std::atomic<int> wrong{0};
  const auto caller = [&](int seed) {
    for (int round = 0; round < 150; ++round) {
      const int size = 2 + (round * 7 + seed) % 7;
      RunCount count;
      const auto kind = round % 3 == 0 ? team::Kind::whole : team::Kind::each;
      team::begin(kind, size, count_run, &count);
      const int told = team::place().size;
      if (told > 1) count_run(&count, 0);
      team::end();
      for (int i = 0; told > 1 && i < 10; ++i)
        if (count.runs[static_cast<size_t>(i)].load() != (i < told ? 1 : 0)) wrong.fetch_add(1);
      wrong.fetch_add(count.wrong.load());
      std::atomic<int> chunks{0};
      parallel_for(size, size, [&](int64_t, int) noexcept { chunks.fetch_add(1); });
      if (chunks.load() != size) wrong.fetch_add(1);
    }
  };
  std::thread others[] = {std::thread(caller, 1), std::thread(caller, 2)};
  caller(0);
  for (std::thread& t : others) t.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(ThreadPool, AForkedChildStartsAfresh) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
#endif
  parallel_for(4, 2, [](int64_t, int) noexcept {});
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::atomic<int> runs{0};
    parallel_for(100, 2, [&](int64_t, int) noexcept { runs.fetch_add(1); });
    _exit(runs.load() == 100 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  std::atomic<int> runs{0};
  parallel_for(100, 2, [&](int64_t, int) noexcept { runs.fetch_add(1); });
  EXPECT_EQ(runs.load(), 100);
}

}  // namespace
}  // namespace plimsoll
