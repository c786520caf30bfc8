// After warm-up a training step allocates nothing: not we, not the libraries we call.
#include <gtest/gtest.h>

#include "allocations/hooks.h"
#include "models/models.h"
#include "plimsoll/program.h"

namespace plimsoll::testing {
namespace {

// Large models by a smaller batch: who allocates does not depend on it, and the test stays short.
int64_t batch_of(const models::Model& model) {
  return model.sample.elements() > 4096 ? 2 : std::min<int64_t>(model.batch, 8);
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

void expect_no_allocations(const Graph& graph, std::vector<Tensor> inputs) {
  Program program = Program::compile(graph);
  std::vector<Tensor> outputs(1);
  for (int i = 0; i < 2; ++i) program.run(inputs, outputs);
  start_counting();
  for (int i = 0; i < 3; ++i) program.run(inputs, outputs);
  EXPECT_EQ(said(stop_counting()), "");
}

TEST_P(Step, TrainingAllocatesNothing) {
  models::Weights weights;
  const int64_t batch = batch_of(GetParam());
  expect_no_allocations(models::train_graph(GetParam(), weights, batch), models::sample_batch(GetParam(), batch));
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
