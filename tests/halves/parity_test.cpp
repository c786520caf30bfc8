// Training under mixed_bfloat16 against PyTorch in float32: from equal weights, the loss goes the same way.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "models/models.h"
#include "plimsoll/program.h"

namespace plimsoll::models {
namespace {

constexpr double kLossTolerance = 3e-2;  // relative; a bfloat16 is rounded by up to 0.4 %, at every layer
constexpr size_t kBatches = 4;           // as in tests/parity

class MixedParity : public ::testing::TestWithParam<Model> {};

INSTANTIATE_TEST_SUITE_P(Models, MixedParity,
                         ::testing::ValuesIn(parity_models().begin(), parity_models().end()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(MixedParity, LossCurveIsCloseToPyTorchsInFloat32) {
  const Model& model = GetParam();
  std::ifstream file(PLIMSOLL_GOLDEN_FOLDER "/parity.json");
  const nlohmann::json goldens = nlohmann::json::parse(file);
  Weights weights;
  Program program = Program::compile(train_graph(model, weights, model.batch, kMixedBf16));
  const auto first_seed = goldens.at("first_batch_seed").get<uint64_t>();
  const auto want = goldens.at("losses").at(std::string(model.name)).get<std::vector<double>>();
  for (size_t step = 0; step < want.size(); ++step) {
    const double loss =
        program(sample_batch(model, model.batch, first_seed + 10 * (step % kBatches)))[0].item();
    ASSERT_NEAR(loss, want[step], kLossTolerance * std::fabs(want[0])) << "step " << step;
  }
}

TEST_P(MixedParity, ThreadsChangeNoBitOfOurOwnKernels) {
  const Model& model = GetParam();
  std::vector<double> losses[2];
  for (const int threads : {1, 2}) {
    Weights weights;
    CompileOptions options;
    options.threads = threads;
    Program program = Program::compile(train_graph(model, weights, model.batch, kMixedBf16), options);
    for (int step = 0; step < 3; ++step)
      losses[threads - 1].push_back(program(sample_batch(model, model.batch, 7))[0].item());
  }
  EXPECT_EQ(losses[0], losses[1]);
}

}  // namespace
}  // namespace plimsoll::models
