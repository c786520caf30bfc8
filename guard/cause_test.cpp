#include "guard/cause.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace plimsoll::guard {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

Evidence killed_by(int signal) {
  Evidence e;
  e.wait_status = signal;
  e.pid = 42;
  e.time = 100;
  e.line = 4 * kGiB;
  e.samples = {{98, 2 * kGiB, 0, 9 * kGiB}, {99, 3 * kGiB, 0, 8 * kGiB}};
  return e;
}

Fault fault(int signal, int code, uint64_t address, uint64_t stack_pointer) {
  Fault f;
  f.pid = 42;
  f.signal = signal;
  f.code = code;
  f.address = address;
  f.stack_pointer = stack_pointer;
  return f;
}

TEST(Cause, SigkillWithoutAnOomKillIsNotOutOfMemory) {
  const Verdict v = judge(killed_by(SIGKILL));
  EXPECT_EQ(v.cause, Cause::outside_kill);
  EXPECT_FALSE(is_memory(v.cause));
}

TEST(Cause, OomKillInTheLeafIsItsLimitOnlyIfThatWasMet) {
  Evidence e = killed_by(SIGKILL);
  e.leaf_limit = 5 * kGiB;
  e.leaf_oom_kills = 1;
  EXPECT_EQ(judge(e).cause, Cause::host_oom);
  e.leaf_limit_hits = 1;
  EXPECT_EQ(judge(e).cause, Cause::cgroup_oom);
  EXPECT_TRUE(judge(e).certain);
}

TEST(Cause, AnOomKillSomewhereOnTheMachineIsLikelyNotCertain) {
  Evidence e = killed_by(SIGKILL);
  e.system_oom_kills = 1;
  EXPECT_EQ(judge(e).cause, Cause::host_oom);
  EXPECT_FALSE(judge(e).certain);
  e.kernel_log = "Out of memory: Killed process 42 (python)";
  EXPECT_TRUE(judge(e).certain);
}

TEST(Cause, AnOomKillOfAnotherProcessIsNotBlamed) {
  Evidence e = killed_by(SIGKILL);
  e.system_oom_kills = e.group_oom_kills = 1;
  e.kernel_log_read = true;
  EXPECT_EQ(judge(e).cause, Cause::outside_kill);
  e.kernel_log = "Memory cgroup out of memory: Killed process 42 (python)";
  EXPECT_EQ(judge(e).cause, Cause::host_oom);
}

TEST(Cause, DeathRightAfterARefusalIsTheLine) {
  Evidence e = killed_by(SIGSEGV);
  e.refusals.push_back({1, 42, 99.9, 2 * kGiB, 3 * kGiB, 4 * kGiB, {"libfoo.so+0x1 alloc"}});
  EXPECT_EQ(judge(e).cause, Cause::memory_line);
  EXPECT_TRUE(judge(e).certain);
  e.refusals[0].time = 95;
  e.faults.push_back(fault(SIGSEGV, 1, 0, 1 << 30));
  e.faults[0].time = 95.1;  // its handler took the rest
  EXPECT_EQ(judge(e).cause, Cause::memory_line);
  EXPECT_TRUE(judge(e).certain);
  e.faults[0].time = 100;
  EXPECT_EQ(judge(e).cause, Cause::segfault);
}

TEST(Cause, AFaultNextToTheStackPointerIsAnOverflow) {
  Evidence e = killed_by(SIGSEGV);
  e.faults.push_back(fault(SIGSEGV, 1, 0x7ffc00000ff8, 0x7ffc00001000));
  EXPECT_EQ(judge(e).cause, Cause::stack_overflow);
  e.faults[0].address = 0x10;
  EXPECT_EQ(judge(e).cause, Cause::segfault);
}

TEST(Cause, AFaultThatNoHandlerSawHadNoStackLeft) {
  Evidence e = killed_by(SIGSEGV);
  EXPECT_EQ(judge(e).cause, Cause::segfault);
  e.gate_attached = true;
  EXPECT_EQ(judge(e).cause, Cause::stack_overflow);
}

TEST(Cause, TheFirstSignalDecidesWhenItsHandlerDiesOfAnother) {
  Evidence e = killed_by(SIGSEGV);
  e.gate_attached = true;
  e.faults = {fault(SIGILL, 2, 0x10, 1 << 30), fault(SIGSEGV, 1, 0x20, 1 << 30)};
  e.faults[0].time = 99;
  e.faults[1].time = 99.5;
  EXPECT_EQ(judge(e).cause, Cause::illegal_instruction);
  e.faults[0].signal = SIGUSR2;  // the guard asking for stacks is no fault
  EXPECT_EQ(judge(e).cause, Cause::segfault);
}

TEST(Cause, AFaultThatAProgramLivedWithIsNotBlamed) {
  Evidence e = killed_by(SIGABRT);
  e.gate_attached = true;
  e.faults = {fault(SIGSEGV, 1, 0x10, 1 << 30), fault(SIGABRT, -6, 0, 1 << 30)};
  e.faults[0].time = e.faults[1].time = 99.9;
  e.faults[0].survived = true;
  EXPECT_EQ(judge(e).cause, Cause::aborted);
  e.faults[0].survived = false;  // its handler never came back: it jumped out of it, long ago
  e.faults[0].time = 50;
  EXPECT_EQ(judge(e).cause, Cause::aborted);
}

TEST(Cause, WhatWasNotNotedTheDumpTells) {
  Evidence e = killed_by(SIGSEGV);
  e.last_words = "Fatal Python error: Bus error\n\nThread 0x1:\nFatal Python error: Segmentation fault\n\n";
  EXPECT_EQ(judge(e).cause, Cause::bus_error);
  e.faults = {fault(SIGBUS, 2, 0x10, 1 << 30), fault(SIGSEGV, 1, 0x10, 1 << 30)};
  e.faults[0].pid = 43;
  e.faults[1].time = 100;
  EXPECT_EQ(judge(e).cause, Cause::segfault);
  e.faults.clear();
  e.wait_status = SIGKILL;
  EXPECT_EQ(judge(e).cause, Cause::outside_kill);
}

TEST(Cause, AbortIsExplainedByLastWords) {
  struct Case {
    const char* words;
    Cause cause;
  };
  const Case cases[] = {
      {"terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n",
       Cause::bad_alloc},
      {"F0000 tensor.cc:3] Check failed: n > 0\n*** Check failure stack trace: ***\n", Cause::failed_check},
      {"a.out: a.c:3: main: Assertion `x' failed.\n", Cause::failed_check},
      {"OMP: Error #15: Initializing libiomp5.so, but found libomp.so already initialized.\n",
       Cause::duplicate_openmp},
      {"double free or corruption (out)\n", Cause::aborted},
      {"terminate called after throwing an instance of 'std::runtime_error'\n  what():  no\n",
       Cause::aborted},
      {"Fatal Python error: Aborted\n\nCurrent thread 0x1 (most recent call first):\n", Cause::aborted},
      {"", Cause::aborted},
  };
  for (const auto& c : cases) {
    Evidence e = killed_by(SIGABRT);
    e.last_words = c.words;
    EXPECT_EQ(judge(e).cause, c.cause) << c.words;
  }
}

TEST(Cause, ExitStatusAndStartUp) {
  Evidence e = killed_by(0);
  e.wait_status = 3 << 8;
  EXPECT_EQ(judge(e).cause, Cause::exited);
  e.at_start = true;
  e.last_words = "/usr/bin/python3: No module named ipykernel_launcher\n";
  const Verdict v = judge(e);
  EXPECT_EQ(v.cause, Cause::startup_crash);
  EXPECT_NE(v.evidence[0].find("No module named ipykernel_launcher"), std::string::npos);
}

TEST(Cause, SignalsOfLimitsAndPipesAreNotBlamedOnOthers) {
  for (const int signal : {SIGXCPU, SIGXFSZ, SIGPIPE}) {
    const Verdict v = judge(killed_by(signal));
    EXPECT_EQ(v.cause, Cause::terminated);
    EXPECT_EQ(v.title.find("outside"), std::string::npos) << v.title;
    EXPECT_EQ(v.advice.at(0).find("who manages"), std::string::npos) << v.advice[0];
  }
}

TEST(Cause, AnEndByTheStallWatchSaysWhatItSaw) {
  Evidence e = killed_by(SIGKILL);
  e.stall = "deadlocked: the main thread waits for a lock";
  const Verdict v = judge(e);
  EXPECT_EQ(v.cause, Cause::stall_timeout);
  EXPECT_NE(v.evidence.at(0).find("waits for a lock"), std::string::npos);
}

TEST(Cause, OtherSignals) {
  EXPECT_EQ(judge(killed_by(SIGBUS)).cause, Cause::bus_error);
  EXPECT_EQ(judge(killed_by(SIGILL)).cause, Cause::illegal_instruction);
  EXPECT_EQ(judge(killed_by(SIGFPE)).cause, Cause::arithmetic);
  EXPECT_EQ(judge(killed_by(SIGTERM)).cause, Cause::terminated);
}

}  // namespace
}  // namespace plimsoll::guard
