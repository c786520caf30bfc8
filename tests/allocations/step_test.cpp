// After warm-up a training step allocates nothing. oneDNN makes a few small objects inside each of its calls,
// which its interface gives no way around; they are counted apart and bounded per call.
#include <gtest/gtest.h>

#include <cstdio>

#include "allocations/hooks.h"
#include "models/models.h"
#include "plimsoll/program.h"

namespace plimsoll::testing {
namespace {

// Large models by a smaller batch: who allocates does not depend on it, and the test stays short.
int64_t batch_of(const models::Model& model) {
  return model.sample.elements() > 4096 ? 1 : std::min<int64_t>(model.batch, 4);
}

std::string said(const std::map<std::string, int64_t>& by_library) {
  std::string text;
  for (const auto& [library, count] : by_library) text += library + ": " + std::to_string(count) + "  ";
  return text;
}

class Step : public ::testing::TestWithParam<models::Model> {};

INSTANTIATE_TEST_SUITE_P(BenchModels, Step,
                         ::testing::ValuesIn(models::bench_models().begin(), models::bench_models().end()),
                         [](const auto& info) { return std::string(info.param.name); });

constexpr int64_t kMostPerOnednnCall =
    40;  // a call may run several primitives: reorders, then the convolution

int64_t onednn_calls(const Program& program) {
  const std::string text = program.text();
  int64_t calls = 0;
  for (size_t at = text.find("onednn"); at != std::string::npos;
       at = text.find("onednn", text.find('\n', at)))
    ++calls;
  return calls;
}

void expect_no_allocations(const Graph& graph, const std::vector<Tensor>& inputs) {
  constexpr int kRuns = 2;
  Program program = Program::compile(graph);
  std::vector<Tensor> outputs(1);
  program.run(inputs, outputs);
  start_counting();
  for (int i = 0; i < kRuns; ++i) program.run(inputs, outputs);
  std::map<std::string, int64_t> by_library = stop_counting();
  int64_t inside = 0;
  std::erase_if(by_library, [&](const auto& entry) {
    const bool onednn = entry.first.starts_with("libdnnl");
    inside += onednn ? entry.second : 0;
    return onednn;
  });
  EXPECT_EQ(said(by_library), "");
  const int64_t calls = onednn_calls(program);
  EXPECT_LE(inside, kMostPerOnednnCall * calls * kRuns);
  if (calls > 0) {
    std::printf("[  ONEDNN  ] %.1f allocations of its own per call, %lld calls a step\n",
                static_cast<double>(inside) / static_cast<double>(calls * kRuns),
                static_cast<long long>(calls));
  }
}

TEST_P(Step, TrainingAllocatesNothing) {
  models::Weights weights;
  const int64_t batch = batch_of(GetParam());
  expect_no_allocations(models::train_graph(GetParam(), weights, batch),
                        models::sample_batch(GetParam(), batch));
}

TEST_P(Step, PredictingAllocatesNothing) {
  models::Weights weights;
  const int64_t batch = batch_of(GetParam());
  expect_no_allocations(models::predict_graph(GetParam(), weights, batch),
                        {models::sample_batch(GetParam(), batch)[0]});
}

TEST(Hooks, SeeAllocations) {
  start_counting();
  ::operator delete(::operator new(100));
  EXPECT_EQ(stop_counting().size(), 1u);
}

}  // namespace
}  // namespace plimsoll::testing
