// People choose bfloat16 to need fewer bytes: no model of the bench may need more of them than in float32.
#include <gtest/gtest.h>

#include <cstdio>

#include "models/models.h"
#include "plimsoll/program.h"

namespace plimsoll {
namespace {

using models::Model;
using models::Precision;

int64_t bytes(const MemoryReport& r) { return r.arena + r.variables + r.constants; }

MemoryReport forecast(const Model& model, bool training, Precision precision) {
  models::Weights weights;
  return Program::forecast(training ? models::train_graph(model, weights, model.batch, precision)
                                    : models::predict_graph(model, weights, model.batch, precision));
}

void expect_less(const Model& model, bool training, Precision precision) {
  const MemoryReport full = forecast(model, training, {}), half = forecast(model, training, precision);
  std::printf("%-16s %-7s arena %9.1f -> %9.1f KiB, in all %9.1f -> %9.1f KiB\n",
              std::string(model.name).c_str(), training ? "step" : "predict",
              static_cast<double>(full.arena) / 1024, static_cast<double>(half.arena) / 1024,
              static_cast<double>(bytes(full)) / 1024, static_cast<double>(bytes(half)) / 1024);
  EXPECT_LE(bytes(half), bytes(full)) << model.name;
}

class MemoryOfHalves : public ::testing::TestWithParam<Model> {};

TEST_P(MemoryOfHalves, AMixedStepNeedsNoMoreThanOneInFloat32) {
  expect_less(GetParam(), true, models::kMixedBf16);
}

TEST_P(MemoryOfHalves, NeitherDoesOneInFloat16) { expect_less(GetParam(), true, {DType::f32, DType::f16}); }

TEST_P(MemoryOfHalves, APredictionNeedsNoMoreThanOneInFloat32) {
  expect_less(GetParam(), false, models::kBf16);
}

INSTANTIATE_TEST_SUITE_P(Bench, MemoryOfHalves, ::testing::ValuesIn(models::bench_models()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace plimsoll
