// What is read of a process: each of its states is made, and waited for until it is seen.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <thread>

#include "guard/gate/page.h"
#include "guard/stall.h"

namespace plimsoll::guard {
namespace {

TEST(StallReading, HowLongAThreadSleepsIsRead) {
  for (const bool until : {false, true}) {
    const pid_t child = ::fork();
    if (child == 0) {
      std::thread([until] {
        timespec time{};
        if (until) ::clock_gettime(CLOCK_MONOTONIC, &time);
        time.tv_sec += 100000;
        ::clock_nanosleep(CLOCK_MONOTONIC, until ? TIMER_ABSTIME : 0, &time, nullptr);
      }).join();
      ::_exit(0);
    }
    std::optional<StallReading> reading;
    do {
      reading = take_reading(child, 0, {});
    } while (reading && reading->sleeping_threads.empty());
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ASSERT_TRUE(reading);
    EXPECT_GT(reading->longest_nap, 90000);
    EXPECT_LE(reading->longest_nap, 100000);
  }
}

TEST(StallReading, ATimerThatIsReadEndsByItself) {
  for (const bool set : {false, true}) {
    const int timer = ::timerfd_create(CLOCK_MONOTONIC, 0);
    const itimerspec time{{0, 0}, {set ? 100000 : 0, 0}};
    ASSERT_EQ(::timerfd_settime(timer, 0, &time, nullptr), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      uint64_t count = 0;
      [[maybe_unused]] const ssize_t n = ::read(timer, &count, sizeof count);
      ::_exit(0);
    }
    const Doing wanted = set ? Doing::sleep : Doing::io;
    std::optional<StallReading> reading;
    do {
      reading = take_reading(child, 0, {});
    } while (reading && reading->doing != wanted);
    EXPECT_TRUE(reading);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(timer);
  }
}

// A child with a thread that computes and one, the gate's by its name, that waits for a lock with a limit,
// over and over. What is read of it once `holds`.
template <class Holds>
std::optional<StallReading> read_of_two_threads(const Holds& holds) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::thread([] {
      ::prctl(PR_SET_NAME, gate::kThreadName);
      std::mutex mutex;
      std::unique_lock lock(mutex);
      for (std::condition_variable never;;) never.wait_for(lock, std::chrono::milliseconds(200));
    }).detach();
    for (volatile bool on = true; on;)
      std::thread([&] {
        while (on) continue;
      }).join();
    ::_exit(0);
  }
  std::optional<StallReading> reading;
  do {
    reading = take_reading(child, 0, {});
  } while (reading && !holds(*reading));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return reading;
}

TEST(StallReading, ThreadsAreSeenThatComputeOrAskForTheLock) {
  const auto asks = read_of_two_threads([](auto& r) { return r.asks_for_lock != 0; });
  ASSERT_TRUE(asks);
  EXPECT_EQ(asks->timed_threads.count(asks->asks_for_lock), 0U);
  const auto runs = read_of_two_threads(
      [](auto& r) { return !r.running_threads.empty() && r.running_threads.begin()->second.cpu > 0.05; });
  ASSERT_TRUE(runs);
  EXPECT_LT(runs->running_threads.begin()->second.wakes, 50);
}

TEST(StallReading, ATimerIsSeenOnlyWhereAnEventLoopHasOne) {
  for (const int limit : {-1, 1000000}) {
    for (const bool loop : {false, true}) {
      const pid_t child = ::fork();
      if (child == 0) {
        epoll_event event{};
        loop ? ::epoll_wait(::epoll_create1(0), &event, 1, limit) : ::poll(nullptr, 0, -1);
        ::_exit(0);
      }
      std::optional<StallReading> reading;
      do {
        reading = take_reading(child, 0, {});
      } while (reading && reading->doing != Doing::poll);
      ASSERT_TRUE(reading);
      EXPECT_EQ(reading->has_timer, loop && limit > 0);
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
  }
}

TEST(StallReading, ALockOfAFileIsFoundInTheSystem) {
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(::flock(::fileno(file), LOCK_EX), 0);
  const std::string path = "/proc/self/fd/" + std::to_string(::fileno(file));
  const pid_t child = ::fork();
  if (child == 0) {
    const int again = ::open(path.c_str(), O_RDWR);
    ::flock(again, LOCK_EX);
    ::_exit(0);
  }
  std::optional<StallReading> reading;
  do {
    reading = take_reading(child, 0, {});
  } while (reading && reading->doing != Doing::file_lock);
  EXPECT_TRUE(reading);
  ::flock(::fileno(file), LOCK_UN);
  ::waitpid(child, nullptr, 0);
  std::fclose(file);
}

TEST(StallReading, AChildThatHasEndedStillCounts) {
  const auto burn = [] {
    const pid_t child = ::fork();
    if (child == 0) {
      while (std::clock() < CLOCKS_PER_SEC / 5) {
      }
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
  };
  const auto before = take_reading(::getpid(), 0, {});
  burn();
  const auto after = take_reading(::getpid(), 1, {});
  ASSERT_TRUE(before && after);
  EXPECT_GT(after->child_cpu, before->child_cpu + 0.1);
}

}  // namespace
}  // namespace plimsoll::guard
