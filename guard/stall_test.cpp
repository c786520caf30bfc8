#include "guard/stall.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

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
    r.wakes = step.wakes * i;
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

StallKind kind(const StallReading& step, Doing doing, const StallSamples& python = {}) {
  return judge_stall(readings(step, doing), false, python).kind;
}

// Three samples of a loop that is found in these frames, its variables marked so.
StallSamples samples(std::vector<std::string> frames, std::vector<std::string> marks, bool bytecode = true) {
  StallSamples out;
  for (size_t i = 0; i < 3; ++i) {
    StallSample s;
    s.frames = {"    " + frames[i] + " line 1 in f\n"};
    if (!marks.empty()) s.marks = {marks[i]};
    s.bytecode = bytecode;
    out.push_back(s);
  }
  return out;
}

const std::vector<std::string> kSame = {"a", "a", "a"}, kMoving = {"a", "b", "a"}, kNone;

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

TEST(Stall, AThreadThatSleepsWillReleaseTheLock) {
  StallReading waits = step(0);
  waits.sleeping_threads = {{7, 40}};
  EXPECT_EQ(kind(waits, Doing::lock), StallKind::sleeping);
  auto list = readings(waits, Doing::lock);
  int64_t woken = 0;
  for (auto& r : list) r.sleeping_threads[7] = ++woken;  // it does its rounds and holds no lock
  EXPECT_EQ(judge_stall(list, false, {}).kind, StallKind::deadlocked);
  const StallSamples joins = samples(std::vector<std::string>(3, "/lib/threading.py"), {});
  EXPECT_EQ(judge_stall(list, false, joins).kind, StallKind::sleeping);
}

TEST(Stall, AThreadThatHasJustWokenFromALongSleepMayReleaseTheLock) {
  auto list = readings(step(0), Doing::lock);
  for (auto& r : list) r.sleeping_threads[7] = static_cast<int64_t>(r.time) / 9;
  for (size_t n = 3; n <= list.size(); ++n) {
    const std::deque<StallReading> until(list.begin(), list.begin() + static_cast<ptrdiff_t>(n));
    EXPECT_EQ(judge_stall(until, false, {}).kind, StallKind::sleeping) << n;
  }
}

TEST(Stall, AThreadThatWaitsForATimeWillSetTheEvent) {
  StallReading waits = step(0);
  waits.timed_threads = {{7, 40}};
  EXPECT_EQ(kind(waits, Doing::lock), StallKind::deadlocked);  // a bare lock
  const StallSamples event = samples({"/lib/threading.py", "/lib/threading.py", "/lib/threading.py"}, kNone);
  EXPECT_EQ(kind(waits, Doing::lock, event), StallKind::sleeping);
  auto list = readings(waits, Doing::lock);
  int64_t woken = 40;
  for (auto& r : list) r.timed_threads[7] = ++woken;  // it does its rounds
  EXPECT_EQ(judge_stall(list, false, event).kind, StallKind::deadlocked);
  // The monitor of a progress bar does so every ten seconds.
  for (size_t i = 0; i < list.size(); ++i) list[i].timed_threads[7] = static_cast<int64_t>(i / 10);
  EXPECT_EQ(judge_stall(list, false, event).kind, StallKind::deadlocked);
  // A timer that starts the next one, which has just begun.
  for (size_t i = 0; i < list.size(); ++i) list[i].timed_threads = {{static_cast<pid_t>(i / 5), 1}};
  list.back().timed_threads = {{99, 1}};
  EXPECT_EQ(judge_stall(list, false, event).kind, StallKind::sleeping);
}

TEST(Stall, AThreadThatSleepsMayBeAwaited) {
  const StallSamples awaits =
      samples({"/lib/asyncio/threads.py", "/lib/asyncio/threads.py", "/lib/asyncio/threads.py"}, kNone);
  StallReading waits = step(0);
  EXPECT_EQ(kind(waits, Doing::poll, awaits), StallKind::waiting_for_io);
  waits.sleeping_threads = {{7, 40}};
  EXPECT_EQ(kind(waits, Doing::poll, awaits), StallKind::sleeping);
  StallSamples executor = samples(kSame, kNone, false);
  EXPECT_EQ(kind(waits, Doing::poll, executor), StallKind::waiting_for_io);
  for (auto& s : executor) s.awaits_thread = true;
  EXPECT_EQ(kind(waits, Doing::poll, executor), StallKind::sleeping);
}

TEST(Stall, AProcessThatSleepsIsWaitedFor) {
  StallReading waits = step(0);
  waits.sleeping_children = {{7, 40}};
  EXPECT_EQ(kind(waits, Doing::child), StallKind::sleeping);
  EXPECT_EQ(kind(waits, Doing::io), StallKind::waiting_for_io);  // for somebody else
  EXPECT_EQ(kind(waits, Doing::lock), StallKind::deadlocked);
  EXPECT_EQ(kind(waits, Doing::lock, samples(std::vector<std::string>(3, "/lib/threading.py"), {})),
            StallKind::sleeping);  // in a pool
  waits.others_poll = true;        // its own threads
  EXPECT_EQ(kind(waits, Doing::lock, samples(std::vector<std::string>(3, "/lib/threading.py"), {})),
            StallKind::sleeping);
}

TEST(Stall, ALimitedWaitIsASleepUnlessItIsRepeated) {
  EXPECT_EQ(kind(step(0), Doing::timed_lock), StallKind::sleeping);
  StallReading wakes = step(0);
  wakes.wakes = 1;
  EXPECT_EQ(kind(wakes, Doing::timed_lock), StallKind::deadlocked);
  EXPECT_EQ(kind(step(0), Doing::timed_poll), StallKind::sleeping);
  EXPECT_EQ(kind(wakes, Doing::timed_poll), StallKind::sleeping);  // unless it is a ring
  EXPECT_TRUE(judge_stall(readings(wakes, Doing::timed_poll), false, {}).may_be_ring);
  auto list = readings(step(0), Doing::timed_lock);  // one long wait after another
  for (auto& r : list) r.wakes = static_cast<int64_t>(r.time) / 5;
  EXPECT_EQ(judge_stall(list, false, {}).kind, StallKind::sleeping);
}

TEST(Stall, AnAlarmLimitsAnyWaitAndOneThatRepeatsThoseForASignal) {
  StallReading waits = step(0);
  EXPECT_EQ(kind(waits, Doing::signal), StallKind::waiting_for_io);
  waits.alarm = Alarm::repeated;
  EXPECT_EQ(kind(waits, Doing::signal), StallKind::sleeping);
  EXPECT_EQ(kind(waits, Doing::lock), StallKind::deadlocked);
  waits.alarm = Alarm::once;
  EXPECT_EQ(kind(waits, Doing::lock), StallKind::sleeping);
  EXPECT_EQ(kind(waits, Doing::io), StallKind::sleeping);
}

TEST(Stall, AThreadThatNapsTwoSecondsAtATimeWorks) {
  StallReading waits = step(0);
  waits.sleeping_threads = {{7, 40}};
  auto list = readings(waits, Doing::lock);
  int64_t woken = 0;
  for (auto& r : list) r.sleeping_threads[7] = ++woken;
  EXPECT_EQ(judge_stall(list, false, {}).kind, StallKind::deadlocked);
  list[12].longest_nap = 1.9;
  EXPECT_EQ(judge_stall(list, false, {}).kind, StallKind::sleeping);
}

TEST(Stall, DataThatDripsIsNoStall) {
  StallReading drips = step(0);
  drips.wakes = 1;
  EXPECT_EQ(kind(drips, Doing::io), StallKind::slow);
  EXPECT_EQ(kind(step(0), Doing::poll, samples(kSame, kMoving)), StallKind::slow);
  EXPECT_EQ(kind(step(0), Doing::poll, samples(kMoving, {})), StallKind::slow);
  EXPECT_EQ(kind(drips, Doing::poll, samples(kSame, kSame)), StallKind::waiting_for_io);
}

TEST(Stall, SleepOfACoroutineIsASleep) {
  StallSamples sleeps = samples(std::vector<std::string>(3, "/lib/asyncio/tasks.py"), kSame);
  EXPECT_EQ(kind(step(0), Doing::poll, sleeps), StallKind::waiting_for_io);
  for (auto& s : sleeps) s.frames[0] = "    /lib/asyncio/tasks.py line 639 in sleep\n";
  EXPECT_EQ(kind(step(0), Doing::poll, sleeps), StallKind::sleeping);
}

TEST(Stall, SleepWithTheInterpretersLockStopsAllPython) {
  StallSamples sleeps = samples(kSame, kSame, false);
  EXPECT_EQ(kind(step(0), Doing::sleep, sleeps), StallKind::sleeping);
  for (auto& s : sleeps) s.keeps_lock = true;
  EXPECT_EQ(kind(step(0), Doing::sleep, sleeps), StallKind::deadlocked);
  EXPECT_EQ(kind(step(0.1), Doing::sleep, sleeps), StallKind::deadlocked);  // others ask for the lock
  EXPECT_EQ(kind(step(0.1), Doing::io, sleeps), StallKind::waiting_for_io);
  EXPECT_EQ(kind(step(1), Doing::running, sleeps), StallKind::slow);
}

// The gate's thread may see that the lock is not to be had, and be late to tell.
TEST(Stall, ALockThatIsAskedForInVainIsKept) {
  StallReading asks = step(0.1);  // threads of Python that ask wake, and seem to work
  EXPECT_EQ(kind(asks, Doing::sleep), StallKind::slow);
  asks.asks_for_lock = 7;
  EXPECT_EQ(kind(asks, Doing::sleep), StallKind::deadlocked);
  EXPECT_EQ(kind(asks, Doing::sleep, samples(kMoving, kMoving)), StallKind::deadlocked);  // from before
  asks.cpu = 0;
  EXPECT_EQ(kind(asks, Doing::sleep), StallKind::deadlocked);
  auto list = readings(asks, Doing::sleep);
  for (auto& r : list) r.asks_for_lock = static_cast<pid_t>(7 + r.time);  // each question gets an answer
  EXPECT_EQ(judge_stall(list, false, {}).kind, StallKind::sleeping);
  list.back().asks_for_lock = 0;
  EXPECT_EQ(judge_stall(list, false, {}).kind, StallKind::sleeping);
}

TEST(Stall, NativeCodeThatKeepsTheLockMayHaveThreadsThatWork) {
  StallSamples keeps = samples(kSame, kSame, false);
  for (auto& s : keeps) s.keeps_lock = true;
  StallReading works = step(1);
  works.asks_for_lock = 7;
  for (const Doing doing : {Doing::lock, Doing::timed_lock, Doing::sleep}) {
    auto list = readings(works, doing);
    EXPECT_EQ(judge_stall(list, false, keeps).kind, StallKind::deadlocked);
    for (auto& r : list) r.running_threads[9] = {0.1 * r.time, 3};
    EXPECT_EQ(judge_stall(list, false, keeps).kind, StallKind::slow);
    for (auto& r : list) r.running_threads[9] = {0, 3};  // a machine so loaded that it hardly gets on
    EXPECT_EQ(judge_stall(list, false, keeps).kind, StallKind::slow);
    // One that asks for the lock is often found awake, but has waited each time.
    for (auto& r : list) r.running_threads[9] = {0.004 * r.time, static_cast<int64_t>(150 * r.time)};
    EXPECT_EQ(judge_stall(list, false, keeps).kind, StallKind::deadlocked);
  }
}

TEST(Stall, WhatWouldRunIfTheMachineLetItWorks) {
  EXPECT_EQ(kind(step(0.01), Doing::running), StallKind::slow);
  StallReading others = step(0.01);
  others.others_running = true;
  EXPECT_EQ(kind(others, Doing::lock), StallKind::slow);
}

TEST(Stall, APoolWhoseWorkersEndForEverIsADeadlock) {
  StallReading starts = step(0.3);  // it forks
  starts.child_cpu = 0.5;
  StallSamples pool = samples(std::vector<std::string>(3, "/lib/threading.py"), {}, false);
  pool[2].workers_end = true;
  EXPECT_EQ(kind(starts, Doing::lock, pool), StallKind::slow);  // one was killed
  pool[1].workers_end = true;
  EXPECT_EQ(kind(starts, Doing::lock, pool), StallKind::deadlocked);
}

TEST(Stall, AStoppedProcess) { EXPECT_EQ(kind(step(0), Doing::stopped), StallKind::stopped); }

// A loop that looks by a function of its own is found in that function or outside.
TEST(Stall, SpinningMayCallAFunction) {
  StallSamples loop = samples(kSame, kSame);
  loop[1].frames.insert(loop[1].frames.begin(), "    exists\n");
  loop[1].marks.insert(loop[1].marks.begin(), "another");
  EXPECT_EQ(kind(step(1), Doing::running, loop), StallKind::spinning);
  loop[1].marks[1] = "b";
  EXPECT_EQ(kind(step(1), Doing::running, loop), StallKind::slow);
  StallSamples calls = samples(kSame, kSame);  // never found in the outer frame itself
  for (size_t i = 0; i < 3; ++i)
    calls[i].frames.insert(calls[i].frames.begin(), "    step " + std::to_string(i) + "\n");
  EXPECT_EQ(kind(step(1), Doing::running, calls), StallKind::slow);
}

TEST(Stall, SleepAndIoAreNoDeadlock) {
  EXPECT_EQ(kind(step(0), Doing::sleep), StallKind::sleeping);
  EXPECT_EQ(kind(step(0), Doing::io), StallKind::waiting_for_io);
  EXPECT_EQ(kind(step(0), Doing::disk), StallKind::waiting_for_io);
}

TEST(Stall, SpinningNeedsOneUnchangingLineOfPython) {
  EXPECT_EQ(kind(step(1), Doing::running, samples(kSame, kSame)), StallKind::spinning);
  EXPECT_EQ(kind(step(1), Doing::running, samples(kMoving, kSame)), StallKind::slow);
  EXPECT_EQ(kind(step(1), Doing::running, samples(kSame, kSame, false)),
            StallKind::slow);  // inside a native routine
  EXPECT_EQ(kind(step(1), Doing::running, {}), StallKind::slow);
  StallReading grows = step(1);
  grows.resident = 1 << 20;
  EXPECT_EQ(kind(grows, Doing::running, samples(kSame, kSame)), StallKind::slow);
}

TEST(Stall, ALineWhoseVariablesChangeIsAtWork) {
  EXPECT_EQ(kind(step(1), Doing::running, samples(kSame, kMoving)), StallKind::slow);
  EXPECT_EQ(kind(step(1), Doing::running, samples(kSame, kNone)), StallKind::slow);  // one long call
}

TEST(Stall, ChildrenAtWorkAreWork) {
  StallReading children = step(0);
  children.child_cpu = 1;
  EXPECT_EQ(kind(children, Doing::io), StallKind::slow);
  StallReading starved = step(0);  // by a loaded machine
  starved.child_running = true;
  EXPECT_EQ(kind(starved, Doing::io), StallKind::slow);
}

std::string text(const StallReading& step, Doing doing, const StallSamples& python = {}) {
  return judge_stall(readings(step, doing), false, python).text;
}

TEST(Stall, AFileLockIsNamedWithItsHolder) {
  StallReading waits = step(0);
  waits.lock_holder = "4711 (python)";
  EXPECT_EQ(kind(waits, Doing::file_lock), StallKind::waiting_for_io);
  EXPECT_NE(text(waits, Doing::file_lock).find("lock on a file, which process 4711 (python) holds"),
            std::string::npos);
  EXPECT_NE(text(step(0), Doing::signal).find("a signal"), std::string::npos);
}

TEST(Stall, AStoppedChildIsNamed) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  ::waitpid(child, nullptr, WUNTRACED);
  const auto reading = take_reading(::getpid(), 0, {});
  ::kill(child, SIGCONT);
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->stopped_child.rfind(std::to_string(child), 0), 0U) << reading->stopped_child;
  StallReading waits = step(0);
  waits.stopped_child = reading->stopped_child;
  EXPECT_EQ(kind(waits, Doing::child), StallKind::stopped);
  EXPECT_EQ(kind(waits, Doing::lock), StallKind::stopped);  // a pool's worker
  EXPECT_EQ(kind(waits, Doing::sleep), StallKind::sleeping);
  EXPECT_NE(text(waits, Doing::child).find("kill -CONT " + std::to_string(child)), std::string::npos);
}

TEST(Stall, AnAsyncioLockThatNobodyCanReleaseIsADeadlock) {
  StallSamples awaits = samples(std::vector<std::string>(3, "/lib/asyncio/locks.py"), {}, false);
  EXPECT_EQ(kind(step(0), Doing::poll, awaits), StallKind::waiting_for_io);  // another task is there
  for (auto& s : awaits) s.awaits_alone = true;
  EXPECT_EQ(kind(step(0), Doing::poll, awaits), StallKind::deadlocked);
}

TEST(Stall, AnEventLoopThatWaitsForATimeGoesOn) {
  StallSamples awaits = samples(std::vector<std::string>(3, "/lib/asyncio/base_events.py"), {}, false);
  auto list = readings(step(0), Doing::poll);
  EXPECT_EQ(judge_stall(list, false, awaits).kind, StallKind::waiting_for_io);
  list[27].has_timer = true;  // a visitor of the server comes now and then
  EXPECT_EQ(judge_stall(list, false, awaits).kind, StallKind::sleeping);
}

TEST(Stall, NativeCodeThatSleepsAndLooksAgainWaits) {
  StallSamples calls = samples(kSame, kNone, false);
  StallReading polls = step(0);
  polls.wakes = 10;
  EXPECT_EQ(kind(polls, Doing::sleep, calls), StallKind::sleeping);  // a loop of Python's that sleeps
  for (auto& s : calls) s.one_call = true;
  EXPECT_EQ(kind(polls, Doing::sleep, calls), StallKind::waiting_for_io);
  EXPECT_EQ(kind(step(0), Doing::sleep, calls), StallKind::sleeping);  // one long sleep
  auto list = readings(step(0), Doing::sleep);
  for (auto& r : list) r.wakes = r.time < 29 ? 0 : 3;  // one sleep of many ends
  EXPECT_EQ(judge_stall(list, false, calls).kind, StallKind::sleeping);
  polls.sleeping_children = {{7, 40}};  // who may hold the lock
  EXPECT_EQ(kind(polls, Doing::sleep, calls), StallKind::sleeping);
}

TEST(Stall, WhatMayGetOnUnseenDoesNotSpin) {
  StallSamples loop = samples(kSame, kSame);
  EXPECT_EQ(kind(step(1), Doing::running, loop), StallKind::spinning);
  loop[1].unseen = {true};
  EXPECT_EQ(kind(step(1), Doing::running, loop), StallKind::slow);
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
  EXPECT_EQ(kind(gpu, Doing::running, samples(kSame, kNone, false)), StallKind::gpu_hang);
  EXPECT_EQ(kind(gpu, Doing::running, samples(kMoving, kNone, false)), StallKind::slow);
}

}  // namespace
}  // namespace plimsoll::guard
