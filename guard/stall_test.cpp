#include "guard/stall.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>

namespace plimsoll::guard {
namespace {

// 30 readings, one a second, changing by the same step each time.
std::deque<StallReading> readings(const StallReading& step, Doing doing) {
  std::deque<StallReading> out;
  for (int i = 0; i < 30; ++i) {
    StallReading r = step;
    r.time = i;
    r.cpu = step.cpu * i;
    r.child_cpu = step.child_cpu * i;
    r.io_bytes = step.io_bytes * i;
    r.major_faults = step.major_faults * i;
    r.resident = step.resident * i;
    r.doing = doing;
    out.push_back(r);
  }
  return out;
}

StallReading step(double cpu) {
  StallReading r;
  r.cpu = cpu;
  return r;
}

StallKind kind(const StallReading& step, Doing doing, const StallStacks& stacks = {}) {
  return judge_stall(readings(step, doing), false, stacks).kind;
}

const std::vector<std::string> kSame = {"a", "a", "a"}, kMoving = {"a", "b", "a"}, kNone = {"", "", ""};

TEST(Stall, WaitingForInputComesFirst) {
  EXPECT_EQ(judge_stall({}, true, {}).kind, StallKind::waiting_for_input);
}

TEST(Stall, ALockNobodyCanReleaseIsADeadlock) {
  EXPECT_EQ(kind(step(0), Doing::lock), StallKind::deadlocked);
  StallReading waits = step(0);
  waits.others_wait_for_io = true;
  EXPECT_EQ(kind(waits, Doing::lock), StallKind::waiting_for_io);
  EXPECT_EQ(kind(step(0.9), Doing::lock), StallKind::slow);  // worker threads compute
}

TEST(Stall, SleepAndIoAreNoDeadlock) {
  EXPECT_EQ(kind(step(0), Doing::sleep), StallKind::sleeping);
  EXPECT_EQ(kind(step(0), Doing::io), StallKind::waiting_for_io);
  EXPECT_EQ(kind(step(0), Doing::disk), StallKind::waiting_for_io);
}

TEST(Stall, SpinningNeedsOneUnchangingLineOfPython) {
  EXPECT_EQ(kind(step(1), Doing::running, {kSame, kSame, true}), StallKind::spinning);
  EXPECT_EQ(kind(step(1), Doing::running, {kMoving, kSame, true}), StallKind::slow);
  EXPECT_EQ(kind(step(1), Doing::running, {kSame, kSame, false}),
            StallKind::slow);  // inside a native routine
  EXPECT_EQ(kind(step(1), Doing::running, {{}, {}, true}), StallKind::slow);
  StallReading grows = step(1);
  grows.resident = 1 << 20;
  EXPECT_EQ(kind(grows, Doing::running, {kSame, kSame, true}), StallKind::slow);
}

TEST(Stall, ALineWhoseVariablesChangeIsAtWork) {
  EXPECT_EQ(kind(step(1), Doing::running, {kSame, kMoving, true}), StallKind::slow);
  EXPECT_EQ(kind(step(1), Doing::running, {kSame, kNone, true}), StallKind::slow);  // one long call
}

TEST(Stall, ChildrenAtWorkAreWork) {
  StallReading children = step(0);
  children.child_cpu = 1;
  EXPECT_EQ(kind(children, Doing::io), StallKind::slow);
  StallReading starved = step(0);  // by a loaded machine
  starved.child_running = true;
  EXPECT_EQ(kind(starved, Doing::io), StallKind::slow);
}

TEST(Stall, AChildThatHasEndedStillCounts) {
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

TEST(Stall, PagesFromDiskAreAMemoryStall) {
  StallReading thrashes = step(0.1);
  thrashes.major_faults = 1000;
  EXPECT_EQ(kind(thrashes, Doing::disk), StallKind::memory_stalled);
  StallReading pressed = step(0.1);
  pressed.memory_pressure = 80;
  EXPECT_EQ(kind(pressed, Doing::disk), StallKind::memory_stalled);
}

TEST(Stall, AGpuThatDoesNotAnswer) {
  StallReading gpu = step(1);
  gpu.gpu_in_use = true;
  EXPECT_EQ(kind(gpu, Doing::running, {kSame, kNone, false}), StallKind::gpu_hang);
  EXPECT_EQ(kind(gpu, Doing::running, {kMoving, kNone, false}), StallKind::slow);
}

}  // namespace
}  // namespace plimsoll::guard
