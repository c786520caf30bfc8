#include "guard/stall_watch.h"

#include <gtest/gtest.h>

#include "guard/gate/page.h"

namespace plimsoll::guard {
namespace {

// A cell whose main thread does `doing` all the time, looked at once a second by a clock of its own.
class StallWatchTest : public testing::Test {
 protected:
  // What is told at each second from `now_` to `end`, as "second: text".
  std::vector<std::string> look_until(int end) {
    std::vector<std::string> told;
    for (; now_ <= end; ++now_) {
      const std::string text = watch_.look({1, static_cast<double>(now_), last_sign_, false, Alarm::none});
      if (!text.empty()) told.push_back(std::to_string(now_) + ": " + text);
      if (watch_.wants_stack(now_, last_sign_)) watch_.hear_stack(answer_);
    }
    return told;
  }

  std::string answer(const std::string& line, const std::string& values, const char* place) {
    return std::string(gate::kStallBegins) + "Stack (most recent call first):\n  File \"cell.py\", line " +
           line + " in f\n" + gate::kStallEnds + values + ", " + place + ";\n";
  }

  Doing doing_ = Doing::lock;
  double cpu_ = 0, last_sign_ = 0, used_ = 0;
  int64_t io_ = 0, read_ = 0;
  int now_ = 1;
  std::string answer_;
  StallVerdict ring_;
  MainWaits main_ = MainWaits::in_a_call;
  StallWatch watch_{30, 0,
                    [this](pid_t, double now, const std::set<pid_t>&) {
                      StallReading r;
                      r.time = now;
                      r.cpu = used_ += cpu_;
                      r.io_bytes = read_ += io_;
                      r.doing = doing_;
                      return std::optional(r);
                    },
                    [this](pid_t, const Own&, MainWaits main) {
                      main_ = main;
                      return ring_;
                    }};
};

TEST_F(StallWatchTest, TellsAtTheNoticeAndAtTheVerdictAndNotInBetween) {
  const auto told = look_until(300);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].rfind("30: plimsoll: no sign of life for 30 s: deadlocked", 0), 0U) << told[0];
  EXPECT_EQ(told[1].rfind("120: plimsoll: no sign of life for 120 s: deadlocked", 0), 0U) << told[1];
}

TEST_F(StallWatchTest, ASignOfLifeBeginsAnew) {
  EXPECT_TRUE(look_until(29).empty());
  last_sign_ = 29.5;
  EXPECT_TRUE(look_until(59).empty());
  EXPECT_EQ(look_until(60).size(), 1U);
}

TEST_F(StallWatchTest, SleepAndWorkAreLeftAlone) {
  doing_ = Doing::sleep;
  EXPECT_TRUE(look_until(300).empty());
  doing_ = Doing::running;
  cpu_ = 1;
  last_sign_ = 300;
  EXPECT_TRUE(look_until(700).empty());
}

TEST_F(StallWatchTest, TheLineIsTold) {
  answer_ = answer("7", "1f", gate::kInNative);
  EXPECT_NE(look_until(30).at(0).find("cell.py line 7 in f"), std::string::npos);
}

TEST_F(StallWatchTest, AnAnswerThatIsNotFinishedIsNotTold) {
  answer_ = answer("7", "1f", gate::kInNative);
  answer_.resize(answer_.size() - 2);  // without the ";"
  EXPECT_EQ(look_until(30).at(0).find("line 7"), std::string::npos);
}

TEST_F(StallWatchTest, AnAnswerInPiecesIsToldWhole) {
  watch_.hear_stack(std::string(gate::kStallBegins) + "Stack (most rec");
  const std::string whole = answer("9", "1f", gate::kInNative);
  watch_.hear_stack(whole.substr(std::string(gate::kStallBegins).size() + 15));
  EXPECT_NE(look_until(30).at(0).find("cell.py line 9 in f"), std::string::npos);
}

TEST_F(StallWatchTest, AnswersThatComeTogetherAllCount) {
  doing_ = Doing::sleep;
  answer_ = answer("7", "", gate::kKeepsLock) + answer("7", "", gate::kKeepsLock) +
            answer("7", "", gate::kKeepsLock);
  EXPECT_EQ(look_until(28).size(), 0U);
  answer_.clear();
  EXPECT_NE(look_until(30).at(0).find("keeps the interpreter's lock"), std::string::npos);
}

TEST_F(StallWatchTest, IsAskedUntilEnoughIsHeardOfALockThatIsKept) {
  doing_ = Doing::sleep;
  cpu_ = 0.1;  // threads of Python that ask for the lock
  answer_ = answer("3", "1f", gate::kInNative);
  EXPECT_TRUE(look_until(28).empty());  // one answer from before the lock was kept
  answer_.clear();
  EXPECT_TRUE(look_until(30).empty());
  answer_ = answer("7", "", gate::kKeepsLock);
  EXPECT_NE(look_until(40).at(0).find("keeps the interpreter's lock"), std::string::npos);
}

TEST_F(StallWatchTest, AStallThatBeginsLateIsTold) {
  doing_ = Doing::running;
  cpu_ = 1;
  io_ = 10 << 20;  // it loads a data set and computes for five minutes
  answer_ = answer("3", "1f", gate::kInBytecode);
  int line = 0;
  for (int i = 0; i < 300; ++i) {
    answer_ = answer(std::to_string(++line), "1f", gate::kInBytecode);
    EXPECT_TRUE(look_until(now_).empty());
  }
  doing_ = Doing::lock;
  cpu_ = io_ = 0;
  answer_ = answer("999", "1f", gate::kInNative);
  const auto told = look_until(362);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].find("deadlocked"), std::string::npos) << told[0];
  EXPECT_NE(told[0].find("line 999 in"), std::string::npos) << told[0];
}

TEST_F(StallWatchTest, ALockKeptForGoodLongAfterTheCellBeganIsTold) {
  doing_ = Doing::running;
  cpu_ = 0.3;  // a busy machine: it takes minutes until native code takes the lock
  answer_ = answer("3", "1f", gate::kInNative);
  EXPECT_TRUE(look_until(150).empty());
  doing_ = Doing::sleep;
  cpu_ = 0.1;
  answer_ = answer("7", "", gate::kKeepsLock);
  const auto told = look_until(212);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].find("keeps the interpreter's lock"), std::string::npos) << told[0];
}

TEST_F(StallWatchTest, ACellThatWorksIsAskedNowAndThenOnly) {
  doing_ = Doing::running;
  cpu_ = 1;
  int asked = 0, line = 0;
  for (int i = 0; i < 3000; ++i) {
    answer_ = answer(std::to_string(++line), "1f", gate::kInBytecode);
    EXPECT_TRUE(look_until(now_).empty());
    asked += watch_.wants_stack(now_, last_sign_) ? 1 : 0;
  }
  EXPECT_LE(asked, 420);
}

TEST_F(StallWatchTest, ProcessesThatWaitForOneAnotherAreADeadlock) {
  doing_ = Doing::child;
  EXPECT_NE(look_until(30).at(0).find("waiting on I/O"), std::string::npos);
  last_sign_ = 30.5;
  ring_ = {StallKind::deadlocked, "they wait for one another"};
  EXPECT_NE(look_until(61).at(0).find("deadlocked. they wait for one another"), std::string::npos);
}

TEST_F(StallWatchTest, WhatWaitsForOneOfItsOwnThatSleepsIsLeftAlone) {
  doing_ = Doing::io;
  ring_ = {StallKind::sleeping, "it waits for one of its own that sleeps"};
  EXPECT_TRUE(look_until(300).empty());
}

TEST_F(StallWatchTest, ALoopThatTheMainThreadHasJustComeBackToIsNoAwait) {
  doing_ = Doing::poll;
  ring_ = {StallKind::sleeping, ""};
  EXPECT_TRUE(look_until(40).empty());
  EXPECT_EQ(main_, MainWaits::in_its_loop);
  doing_ = Doing::io;
  last_sign_ = 40.5;
  EXPECT_TRUE(look_until(80).empty());
  doing_ = Doing::poll;  // the cell has ended
  EXPECT_TRUE(look_until(81).empty());
  EXPECT_EQ(main_, MainWaits::in_a_call);
}

TEST_F(StallWatchTest, AnAlarmThatIsSetEndsTheWait) {
  for (; now_ <= 300; ++now_) {
    const StallWatch::Look look{1, static_cast<double>(now_), last_sign_, false, Alarm::once};
    EXPECT_EQ(watch_.look(look), "");
  }
}

TEST_F(StallWatchTest, BytecodeThatChangesNothingSpins) {
  doing_ = Doing::running;
  cpu_ = 1;
  answer_ = answer("7", "1f", gate::kInBytecode);
  const auto told = look_until(31);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].find("spinning"), std::string::npos);
}

TEST_F(StallWatchTest, NativeCodeDoesNotSpin) {
  doing_ = Doing::running;
  cpu_ = 1;
  answer_ = answer("7", "1f", gate::kInNative);
  EXPECT_TRUE(look_until(300).empty());
}

}  // namespace
}  // namespace plimsoll::guard
