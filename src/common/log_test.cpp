#include "common/log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <thread>
#include <vector>

namespace plimsoll {
namespace {

class Log : public ::testing::Test {
 protected:
  void SetUp() override { set_log_level(LogLevel::warning); }
  void TearDown() override {
    set_log_sink({});
    set_log_level(LogLevel::warning);
  }
};

TEST_F(Log, ASinkGetsWhatIsSaidFromItsLevelOn) {
  std::vector<std::string> got;
  set_log_sink([&](LogLevel level, std::string_view place, std::string_view message) {
    got.push_back(concat(name_of(level), " ", place, " ", message));
  });
  warn("file.h5", "left out ", 3, " values");
  log(LogLevel::info, "file.h5", "not asked for");
  set_log_level(LogLevel::debug);
  log(LogLevel::debug, "plan", "asked for");
  set_log_level(LogLevel::off);
  warn("file.h5", "nobody listens");
  EXPECT_EQ(got, (std::vector<std::string>{"warning file.h5 left out 3 values", "debug plan asked for"}));
}

TEST_F(Log, WithoutASinkALineGoesToTheStandardError) {
  ::testing::internal::CaptureStderr();
  warn("file.h5", "left out");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "plimsoll warning: [file.h5] left out\n");
}

TEST_F(Log, NothingIsThrownOutOfIt) {
  set_log_sink([](LogLevel, std::string_view, std::string_view) { throw std::bad_alloc(); });
  EXPECT_NO_THROW(warn("file.h5", "left out"));
}

TEST_F(Log, ASinkMayLogAndBeReplacedByItself) {
  int calls = 0;
  set_log_sink([&](LogLevel, std::string_view, std::string_view) {
    set_log_sink([&](LogLevel, std::string_view, std::string_view) { ++calls; });
    warn("inner", "again");
  });
  warn("outer", "once");
  EXPECT_EQ(calls, 1);
}

TEST_F(Log, ThreadsMayLogWhileSinksChange) {
  std::atomic<int> got = 0;
  const auto count = [&](LogLevel, std::string_view, std::string_view) { ++got; };
  set_log_sink(count);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 1000; ++i) warn("thread", i);
    });
  }
  for (int i = 0; i < 100; ++i) set_log_sink(count);
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(got, 4000);
}

}  // namespace
}  // namespace plimsoll
