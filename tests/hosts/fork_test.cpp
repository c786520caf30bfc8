// A child forked in the middle of other threads' work trains like its parent. Without handlers it hangs on a
// lock that one of them held: SIGALRM then ends it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>

#include "common/fork.h"
#include "common/log.h"
#include "training.h"

namespace plimsoll {
namespace {

int exit_status_of_child(const std::function<bool()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(work() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(Fork, AChildForkedUnderLoadTrains) {
  ASSERT_TRUE(trains("parent"));  // all that is made once, is made
  set_log_sink([](LogLevel, std::string_view, std::string_view) {});
  std::atomic<bool> stop{false};
  const auto all_the_time = [&](auto work) {
    return std::thread([&stop, work] {
      while (!stop.load()) work();
    });
  };
  std::thread load[] = {
      all_the_time([] { trains("load", 1); }),
      all_the_time([] { trains("more load", 1); }),
      all_the_time([] { Tensor::full(DType::f32, {100}, 1.0); }),
      all_the_time([] { log(LogLevel::warning, "fork_test", "load"); }),
  };
  for (int i = 0; i < 25; ++i) {
    EXPECT_EQ(exit_status_of_child([] { return trains("child", 1); }), 0) << "child " << i;
    if (HasFailure()) break;
  }
  stop = true;
  for (std::thread& t : load) t.join();
  set_log_sink({});
}

TEST(Fork, WaitsForEveryMutexInOrder) {
  static ForkMutex first(LockOrder::onednn), last(LockOrder::log);
  std::atomic<bool> stop{false};
  int64_t counters[2] = {0, 0};  // guarded by `first`: equal whenever it is free
  std::thread writer([&] {
    while (!stop.load()) {
      const std::lock_guard lock(first);
      ++counters[0];
      const std::lock_guard inner(last);
      ++counters[1];
    }
  });
  for (int i = 0; i < 50 && !HasFailure(); ++i) {
    EXPECT_EQ(exit_status_of_child([&] {
                const std::lock_guard lock(first);
                return counters[0] == counters[1];
              }),
              0);
  }
  stop = true;
  writer.join();
}

}  // namespace
}  // namespace plimsoll
