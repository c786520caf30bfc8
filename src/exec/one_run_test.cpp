// A second run of a Program while the first is under way, or of one that shares its arena, is refused and
// leaves the first untouched.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "memory/arena.h"
#include "plimsoll/contents.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"
#include "plimsoll/program.h"

namespace plimsoll {
namespace {

constexpr int64_t kSize = 96;

// x -> (x . x) . (x . x), with temporaries in the arena.
Program fourth_power(const std::shared_ptr<Arena>& arena) {
  Graph g;
  const Tensor x = g.input("x", DType::f32, {kSize, kSize});
  const Tensor square = matmul(x, x);
  g.output("y", matmul(square, square + 0.0));
  CompileOptions options;
  options.threads = 1;
  options.arena = arena;
  return Program::compile(g, options);
}

bool all_are(const Tensor& t, float value) {
  const auto* p = static_cast<const float*>(read_bytes(t));
  return std::all_of(p, p + t.shape().elements(), [&](float v) { return v == value; });
}

// What a second one is told; empty: it ran.
std::string refusal(Program& program, const Tensor& x, Tensor& y) {
  try {
    program.run(std::span(&x, 1), std::span(&y, 1));
    return "";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::invalid_argument);
    return e.what();
  }
}

TEST(OneRun, IsRefusedWhileAnotherOneHasTheArena) {
  const auto arena = std::make_shared<Arena>();
  Program first = fourth_power(arena), second = fourth_power(arena);
  const Tensor x = Tensor::full(DType::f32, {kSize, kSize}, 1);
  Tensor y = Tensor::full(DType::f32, {kSize, kSize}, 7);
  {
    const InUse::Turn running(arena->in_use(), "test", "");
    for (Program* p : {&first, &second})
      EXPECT_NE(refusal(*p, x, y).find("one run at a time"), std::string::npos);
    EXPECT_TRUE(all_are(y, 7)) << "written all the same";
    EXPECT_THROW(fourth_power(arena), Error) << "the arena of a run must not be grown";
    EXPECT_THROW(first.profile(std::span(&x, 1), 1), Error);
  }
  EXPECT_EQ(refusal(first, x, y), "");
  EXPECT_EQ(refusal(second, x, y), "");
  EXPECT_TRUE(all_are(y, kSize * kSize * kSize));
}

TEST(OneRun, ThatFailsLetsTheNextOneIn) {
  Program p = fourth_power(nullptr);
  const Tensor wrong = Tensor::zeros(DType::f32, {2, 2}), x = Tensor::full(DType::f32, {kSize, kSize}, 1);
  Tensor y;
  EXPECT_NE(refusal(p, wrong, y).find("of type"), std::string::npos);
  EXPECT_EQ(refusal(p, x, y), "");
}

// Each thread with inputs of its own, so that bytes of the other's run would be seen.
TEST(OneRun, OfManyThreadsIsRightOrRefused) {
  const auto arena = std::make_shared<Arena>();
  Program shared = fourth_power(arena), other = fourth_power(arena);
  std::atomic<int> wrong{0}, right{0};
  const auto work = [&](int thread) {
    Program& program = thread % 2 == 0 ? shared : other;
    const auto value = static_cast<float>(1 << (thread % 3));
    const Tensor x = Tensor::full(DType::f32, {kSize, kSize}, value);
    const float want = value * value * value * value * kSize * kSize * kSize;
    Tensor y = Tensor::empty(DType::f32, {kSize, kSize});
    for (int i = 0; i < 200; ++i) {
      if (!refusal(program, x, y).empty()) continue;
      (all_are(y, want) ? right : wrong) += 1;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work, i);
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(right, 0);
}

// Eager calls of several threads share what was made ready, each at its own time.
TEST(OneRun, EagerCallsOfManyThreadsAreRight) {
  std::atomic<int> wrong{0};
  const auto work = [&](int thread) {
    const auto value = static_cast<float>(1 << thread);
    const Tensor x = Tensor::full(DType::f32, {1, 9, 9, 16}, value),
                 w = Tensor::full(DType::f32, {5, 5, 16, 8}, 1);
    for (int i = 0; i < 100; ++i) {
      if (!all_are(conv(x, w), value * 5 * 5 * 16)) ++wrong;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work, i);
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace plimsoll
