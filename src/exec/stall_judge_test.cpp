#include "exec/stall_judge.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "exec/stall_watch.h"

namespace plimsoll {
namespace {

using Doing = Activity::Doing;

// A process whose clocks the test turns.
class Stall : public ::testing::Test {
 protected:
  // `seconds` pass, of which `processor` are had, with threads in these states. The report, if one comes.
  std::optional<StallReport> pass(double seconds, double processor, const std::string& states) {
    now_ += seconds;
    processor_ += processor;
    if (judge_.moved(now_) && !judge_.late(now_)) return std::nullopt;
    StallReading reading{.now = now_, .processor = processor_, .threads = {}, .memory = "swap 1 GiB"};
    for (const char state : states) reading.threads.push_back({17, "fit", state});
    return judge_.look(reading);
  }
  // A look every second.
  std::optional<StallReport> pass_long(double seconds, double processor_share, const std::string& states) {
    std::optional<StallReport> report;
    for (double t = 0; t < seconds && !report; ++t) report = pass(1, processor_share, states);
    return report;
  }
  void steps(int count, double seconds) {
    for (int i = 0; i < count; ++i) {
      activity_.begin(Doing::data, now_);
      activity_.begin(Doing::step, now_);
      now_ += seconds;
      activity_.calibrate(0, seconds);
      EXPECT_FALSE(pass(0, 0, "R"));
    }
    activity_.begin(Doing::data, now_);
    EXPECT_FALSE(pass(0, 0, "R"));
  }

  Activity activity_;
  StallJudge judge_{activity_, {.least = 60, .deadline = 0}};
  double now_ = 1000, processor_ = 50;
};

TEST_F(Stall, IsReportedOnceWithWhatItWaitsFor) {
  steps(5, 0.5);
  const auto report = pass_long(70, 0, "SS");
  ASSERT_TRUE(report);
  EXPECT_NE(report->doing.find("waiting for data"), std::string::npos);
  EXPECT_NEAR(report->counted, 61, 2);
  EXPECT_EQ(report->threads.size(), 2u);
  EXPECT_NE(report->str().find("swap 1 GiB"), std::string::npos);
  EXPECT_FALSE(pass_long(600, 0, "SS"));
}

TEST_F(Stall, IsNoneOnAMachineThatIsBusyWithOthers) {
  steps(5, 0.5);
  activity_.begin(Doing::step, now_);
  EXPECT_FALSE(pass_long(1000, 0.05, "RS"));  // a twentieth of a processor: 50 s
  EXPECT_TRUE(pass_long(300, 0.5, "RS"));     // busy, and no kernel ends
}

TEST_F(Stall, IsNoneWhileAReaderOrACallbackWorks) {
  steps(5, 0.5);
  EXPECT_FALSE(pass_long(1000, 1, "RS"));  // decodes
  activity_.begin(Doing::callbacks, now_);
  EXPECT_FALSE(pass_long(1000, 1, "RS"));
  EXPECT_FALSE(pass_long(50, 0, "SS"));
  EXPECT_TRUE(pass_long(1000 * 21, 0, "SS"));  // and then waits
}

TEST_F(Stall, IsNoneWhileKernelsEnd) {
  steps(5, 0.5);
  activity_.begin(Doing::step, now_);
  for (uint32_t i = 0; i < 1000; ++i) {
    activity_.beat.step.store(i);
    EXPECT_FALSE(pass(50, 50, "R"));
  }
  for (uint32_t i = 0; i < 1000; ++i) {  // of the body of a loop
    activity_.beat.inner.store(i + 1);
    EXPECT_FALSE(pass(50, 50, "R"));
  }
}

TEST_F(Stall, WaitsLongerWhereStepsAreLong) {
  steps(3, 30);
  activity_.begin(Doing::step, now_);
  EXPECT_FALSE(pass_long(20 * 30 - 10, 1, "R"));
  EXPECT_TRUE(pass_long(40, 1, "R"));
}

TEST_F(Stall, BeforeTheFirstStepWaitsLonger) {
  activity_.begin(Doing::step, now_);
  EXPECT_FALSE(pass_long(250, 1, "R"));
  EXPECT_TRUE(pass_long(100, 1, "R"));
}

TEST_F(Stall, CanBeAskedAgainAfterASignOfLife) {
  steps(5, 0.5);
  EXPECT_TRUE(pass_long(100, 0, "S"));
  steps(1, 0.5);
  EXPECT_TRUE(pass_long(20 * 100, 0, "D"));  // a wait of 100 s is usual now
}

TEST(StallDeadline, IsReportedWhileKernelsEnd) {
  Activity activity;
  StallJudge judge(activity, {.least = 60, .deadline = 2});
  activity.begin(Doing::step, 10);
  EXPECT_TRUE(judge.moved(11));
  EXPECT_FALSE(judge.late(11));
  activity.beat.step.store(3);
  EXPECT_TRUE(judge.moved(12.5));
  ASSERT_TRUE(judge.late(12.5));
  const auto report = judge.look({.now = 12.5});
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->deadline);
  EXPECT_FALSE(judge.late(13));  // told once
  activity.begin(Doing::data, 14);
  EXPECT_FALSE(judge.late(100));
  activity.begin(Doing::step, 100);
  EXPECT_TRUE(judge.late(103));
}

TEST(StallReading, IsOfThisProcess) {
  const StallReading reading = read_stall();
  ASSERT_FALSE(reading.threads.empty());
  EXPECT_EQ(reading.threads[0].id, ::getpid());
  EXPECT_GT(reading.processor, 0);
  EXPECT_NE(reading.memory.find("available"), std::string::npos);
}

size_t threads() { return read_stall().threads.size(); }

TEST(StallWatch, EndsItsThread) {
  const size_t before = threads();
  Activity activity;
  {
    StallWatch watch(activity, {}, true);
    EXPECT_EQ(threads(), before + 1);
    watch.check();
  }
  EXPECT_EQ(threads(), before);
}

TEST(StallWatch, CanBeDestroyedInAForkedChild) {
  Activity activity;
  auto watch = std::make_unique<StallWatch>(activity, StallOptions{}, true);
  std::this_thread::sleep_for(
      std::chrono::milliseconds(50));  // the thread waits by now, or soon: either may be
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    watch.reset();
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace plimsoll
