// A system that refuses threads: teams are smaller, nothing waits for threads that never come.
// pthread_create() is this program's own; each test runs in a child, with a pool of its own.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <vector>

#include "device/cpu/thread_pool.h"
#include "plimsoll/autodiff.h"
#include "plimsoll/contents.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"
#include "plimsoll/program.h"

static std::atomic<int> threads_allowed{1000};

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                              void* argument) {
  static const auto real = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  if (threads_allowed.fetch_sub(1) <= 0) return EAGAIN;
  return real(thread, attributes, start, argument);
}

namespace plimsoll {
namespace {

// SIGALRM ends a child that waits for ever.
bool child_succeeds(int allowed, const std::function<bool()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    threads_allowed = allowed;
    _exit(work() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

struct Count {
  std::vector<std::atomic<int>> runs = std::vector<std::atomic<int>>(400);
  std::atomic<int> told{0};
  bool meet = false;
};

void count(void* context, int index) {
  auto& c = *static_cast<Count*>(context);
  c.runs[static_cast<size_t>(index)].fetch_add(1);
  c.told = team::place().size;
  if (c.meet) team::barrier();
}

int members_that_ran(team::Kind kind, int size, bool meet = false) {
  Count c;
  c.meet = meet;
  team::begin(kind, size, count, &c);
  count(&c, 0);
  team::end();
  int ran = 0;
  for (const std::atomic<int>& r : c.runs) {
    if (r > 1) return -1;
    ran += r;
  }
  return kind == team::Kind::whole && c.told != ran ? -2 : ran;
}

TEST(NoThreads, AWholeTeamIsAsLargeAsTheSystemAllows) {
  EXPECT_TRUE(child_succeeds(3, [] { return members_that_ran(team::Kind::whole, 300, true) == 4; }));
  EXPECT_TRUE(child_succeeds(0, [] { return members_that_ran(team::Kind::whole, 8, true) == 1; }));
  EXPECT_TRUE(
      child_succeeds(1000, [] { return members_that_ran(team::Kind::whole, 400, true) == kMaxThreads; }));
}

TEST(NoThreads, EveryMemberRunsAllTheSame) {
  for (const int allowed : {0, 3, 1000}) {
    for (const int size : {2, 8, 100, 300}) {
      EXPECT_TRUE(child_succeeds(allowed, [&] { return members_that_ran(team::Kind::each, size) == size; }))
          << size << " members on " << allowed << " threads";
    }
  }
}

TEST(NoThreads, ALoopRunsOnThoseThereAre) {
  for (const int allowed : {0, 3}) {
    EXPECT_TRUE(child_succeeds(allowed, [] {
      std::atomic<int> sum{0};
      parallel_for(1000, 300, [&](int64_t chunk, int) noexcept { sum.fetch_add(static_cast<int>(chunk)); });
      return sum == 499500;
    }));
  }
}

std::vector<float> values(const Tensor& t) {
  const float* p = static_cast<const float*>(read_bytes(t));
  return {p, p + t.shape().elements()};
}

Tensor ramp(const Shape& shape) {
  std::vector<float> v(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i * 7 % 23) * 0.125f - 1.0f;
  return Tensor::from(std::span<const float>(v), shape);
}

Program compiled(const Graph& graph, int threads) {
  CompileOptions options;
  options.threads = threads;
  return Program::compile(graph, options);
}

// A strided convolution of five points: oneDNN's, where there is one.
Program convolution(int threads) {
  Graph g;
  const Tensor x = g.input("x", DType::f32, {8, 20, 20, 16}), w = g.input("w", DType::f32, {5, 5, 16, 32});
  g.output("y", conv(x, w, {.strides = {2, 2}}));
  return compiled(g, threads);
}

Program gradient(int threads) {
  Graph g;
  const Tensor x = g.input("x", DType::f32, {8, 20, 20, 16}), w = g.variable("w", ramp({5, 5, 16, 32}));
  const Tensor loss = sum(square(conv(x, w, {.strides = {2, 2}})));
  g.output("dw", gradients(loss, std::span(&w, 1))[0]);
  return compiled(g, threads);
}

TEST(NoThreads, AProgramMadeForFourThreadsRunsOnOne) {
  Program program = convolution(4);
  const std::vector<Tensor> in = {ramp({8, 20, 20, 16}), ramp({5, 5, 16, 32})};
  const std::vector<float> want = values(program(in)[0]);
  EXPECT_TRUE(child_succeeds(0, [&] { return values(program(in)[0]) == want; }));
}

TEST(NoThreads, WhatNeedsAllItsThreadsSaysSo) {
  Program program = gradient(4);
  const std::vector<Tensor> in = {ramp({8, 20, 20, 16})};
  const std::vector<float> want = values(program(in)[0]);
  EXPECT_TRUE(child_succeeds(0, [&] {
    try {
      return values(program(in)[0]) == want;
    } catch (const Error& e) {
      return e.kind() == ErrorKind::device &&
             std::string_view(e.what()).find("threads") != std::string_view::npos;
    }
  }));
}

TEST(NoThreads, AskingForHundredsOfThreadsIsFine) {
  EXPECT_TRUE(child_succeeds(1000, [] {
    const std::vector<Tensor> in = {ramp({8, 20, 20, 16}), ramp({5, 5, 16, 32})};
    const std::vector<float> one = values(convolution(1)(in)[0]), many = values(convolution(333)(in)[0]);
    for (size_t i = 0; i < one.size(); ++i) {
      if (std::abs(one[i] - many[i]) > 1e-3f * (1 + std::abs(one[i]))) return false;
    }
    return true;
  }));
}

}  // namespace
}  // namespace plimsoll
