// Whole training steps against PyTorch: 20 steps of Adam from equal weights on equal batches. The curves in
// tests/golden/parity.json were made by make_parity_goldens.py beside it; PLIMSOLL_PARITY_GOLDENS names
// another file.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "models/models.h"
#include "plimsoll/program.h"

namespace plimsoll::models {
namespace {

constexpr double kLossTolerance = 1e-4;  // relative; float32 sums in another order drift apart that far
constexpr size_t kBatches = 4;           // in turn, so that the loss falls

const nlohmann::json& goldens() {
  static const nlohmann::json json = [] {
    const char* path = std::getenv("PLIMSOLL_PARITY_GOLDENS");
    std::ifstream in(path != nullptr ? path : PLIMSOLL_GOLDEN_FOLDER "/parity.json");
    return nlohmann::json::parse(in);
  }();
  return json;
}

class Parity : public ::testing::TestWithParam<Model> {};

INSTANTIATE_TEST_SUITE_P(Models, Parity, ::testing::ValuesIn(parity_models().begin(), parity_models().end()),
                         [](const auto& info) { return std::string(info.param.name); });

void expect_curve(const Model& model, const CompileOptions& options) {
  Weights weights;
  Program program = Program::compile(train_graph(model, weights, model.batch), options);
  if (options.parts > 1) {
    EXPECT_EQ(program.memory().parts, options.parts);
  }
  const auto first_seed = goldens().at("first_batch_seed").get<uint64_t>();
  const auto want = goldens().at("losses").at(std::string(model.name)).get<std::vector<double>>();
  for (size_t step = 0; step < want.size(); ++step) {
    const double loss =
        program(sample_batch(model, model.batch, first_seed + 10 * (step % kBatches)))[0].item();
    ASSERT_NEAR(loss, want[step], kLossTolerance * std::fabs(want[step])) << "step " << step;
  }
}

TEST_P(Parity, LossCurveIsPyTorchs) { expect_curve(GetParam(), {}); }

// The batch cut into ranges that run one after the other, not all of one length.
TEST_P(Parity, LossCurveInPartsIsPyTorchs) {
  CompileOptions options;
  options.parts = 3;
  expect_curve(GetParam(), options);
}

}  // namespace
}  // namespace plimsoll::models
