// The bench's models, trained and asked at their batch sizes, under a malloc that sees everything. A step
// allocates nothing. oneDNN makes a few small objects inside each call of a primitive and drops them before
// it returns, which its interface gives no way around: they are counted, and bounded in number and bytes.
// What the process holds beside what the account knows is bounded after compiling, after steps and at the
// end.
#include <gtest/gtest.h>

#include <cstdio>
#include <string_view>
#include <utility>

#include "allocations/hooks.h"
#include "memory/account.h"
#include "memory/pool.h"
#include "models/models.h"
#include "plimsoll/devices.h"
#include "plimsoll/program.h"

namespace plimsoll::testing {
namespace {

class Step : public ::testing::TestWithParam<models::Model> {};

INSTANTIATE_TEST_SUITE_P(BenchModels, Step,
                         ::testing::ValuesIn(models::bench_models().begin(), models::bench_models().end()),
                         [](const auto& info) { return std::string(info.param.name); });

// Bytes that the process holds and the account does not know of, since this was made. The pool of small
// buffers is emptied first: what lies in it is charged to nobody.
class Unknown {
 public:
  Unknown() : begin_(now()) {}
  int64_t bytes() const { return now() - begin_; }

 private:
  static int64_t now() {
    pool::trim();
    return live_bytes() - account::used();
  }
  int64_t begin_;
};

struct Seen {
  int64_t ours = 0, onednn = 0;
  int64_t most_bytes = 0;  // of the heap at a time, beside what was there before
  int64_t left_bytes = 0;  // there afterwards and not before
  std::string text;
};

Seen watch_run(Program& program, const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) {
  Seen seen;
  peak_heap_bytes();
  const int64_t before = peak_heap_bytes(), live = live_bytes();
  start_counting();
  program.run(inputs, outputs);
  seen.left_bytes = live_bytes() - live;
  seen.most_bytes = peak_heap_bytes() - before;
  for (const auto& [library, count] : stop_counting()) {
    (library.find("onednn") != library.npos ? seen.onednn : seen.ours) += count;
    seen.text += library + ": " + std::to_string(count) + "  ";
  }
  return seen;
}

// What oneDNN allocates in a training step, as README.md says it. Another version of oneDNN, or a processor
// that takes other kernels of it, may need somewhat more.
int64_t most_of_onednn(std::string_view model) {
  constexpr std::pair<std::string_view, int64_t> kInReadme[] = {{"mnist_b128", 39},
                                                                {"cnn64bn_b32", 40},
                                                                {"cnn100_b512", 40},
                                                                {"resnet50_b8", 1719},
                                                                {"transformer_b16", 600}};
  for (const auto& [name, count] : kInReadme) {
    if (name == model) return count + count / 4;
  }
  return 0;
}

bool is_the_readmes_processor() {
  return devices()[0].description.find("avx3") != std::string::npos;  // Highway's name for AVX-512
}

void expect_nothing_allocated(const Graph& graph, const std::vector<Tensor>& inputs, int64_t most_by_onednn) {
  constexpr int64_t kMostInOneCall = 4 << 10;  // bytes of oneDNN's objects
  constexpr int64_t kMostUnknown = 32 << 10;   // beside a twentieth of what is charged for the program
  Program::forecast(graph);  // makes kernels of eager ops, for constants, which are then kept
  const Unknown unknown;
  int64_t after_compile = 0, after_steps = 0, charged = 0;
  Seen seen;
  {
    const int64_t before = account::used(Owner::programs);
    Program program = Program::compile(graph);
    charged = account::used(Owner::programs) - before;
    after_compile = unknown.bytes();
    EXPECT_EQ(charged, program.memory().program);
    std::vector<Tensor> outputs(1);
    program.run(inputs, outputs);
    seen = watch_run(program, inputs, outputs);
    after_steps = unknown.bytes();
  }
  EXPECT_EQ(seen.ours, 0) << seen.text;
  if (is_the_readmes_processor()) {
    EXPECT_LE(seen.onednn, most_by_onednn) << seen.text;
  }
  EXPECT_LE(seen.most_bytes, kMostInOneCall);
  EXPECT_EQ(seen.left_bytes, 0);
  EXPECT_LE(after_compile, kMostUnknown + charged / 20);
  EXPECT_LE(after_steps, kMostUnknown + charged / 20);
  EXPECT_LE(unknown.bytes(), kMostUnknown);
  std::printf(
      "[  COUNTED ] oneDNN allocates %lld times a step, %lld bytes at a time at most; the program is charged"
      " %lld bytes, the account does not know of %lld (compiled), %lld (run), %lld (gone)\n",
      static_cast<long long>(seen.onednn), static_cast<long long>(seen.most_bytes),
      static_cast<long long>(charged), static_cast<long long>(after_compile),
      static_cast<long long>(after_steps), static_cast<long long>(unknown.bytes()));
}

TEST_P(Step, TrainingAllocatesNothing) {
  models::Weights weights;
  const models::Model& m = GetParam();
  expect_nothing_allocated(models::train_graph(m, weights, m.batch), models::sample_batch(m, m.batch),
                           most_of_onednn(m.name));
}

TEST_P(Step, PredictingAllocatesNothing) {
  models::Weights weights;
  const models::Model& m = GetParam();
  expect_nothing_allocated(models::predict_graph(m, weights, m.batch), {models::sample_batch(m, m.batch)[0]},
                           most_of_onednn(m.name));
}

TEST(Hooks, SeeAllocations) {
  start_counting();
  const int64_t before = live_bytes();
  void* block = ::operator new(100);
  EXPECT_GE(live_bytes(), before + 100);
  ::operator delete(block);
  EXPECT_EQ(stop_counting().size(), 1u);
}

}  // namespace
}  // namespace plimsoll::testing
