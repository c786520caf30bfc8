// Gradients of the normalising and pooling ops as a user sees them; values are tested with their kernels.
#include <gtest/gtest.h>

#include "graph/op.h"
#include "ops/gradient_testing.h"
#include "ops/pool.h"

namespace plimsoll {
namespace {

using namespace testing_gradients;

TEST(BatchNormOp, AllThreeOutputsHaveGradients) {
  const Function f = [](const std::vector<Tensor>& in) {
    const std::vector<Tensor> out = batch_norm(in[0], in[1], in[2], 1e-3);
    return out[0] + out[1] * 3.0 + out[2] * 2.0;
  };
  const std::vector<Tensor> at{noise({3, 2, 2, 3}, 1), noise({3}, 2, 0.5, 2), noise({3}, 3)};
  expect_gradients(f, at);
  expect_second_gradients(f, at, 1e-4);
}

TEST(BatchNormOp, ReluAndResidualHaveGradients) {
  for (const bool residual : {false, true}) {
    const Function f = [&](const std::vector<Tensor>& in) {
      const Attrs attrs{{"epsilon", 1e-3}, {"activation", std::string("relu")}, {"residual", residual}};
      return plimsoll::apply(get_op("batch_norm"), in, attrs)[0];
    };
    std::vector<Tensor> at{noise({4, 2, 3}, 1), noise({3}, 2, 0.5, 2), noise({3}, 3)};
    if (residual) at.push_back(noise({4, 2, 3}, 4));
    expect_gradients(f, at);
  }
}

TEST(BatchNormOp, InferenceFormUsesGivenStatistics) {
  const Tensor x = noise({2, 2, 3}, 1), mean = noise({3}, 2), variance = noise({3}, 3, 0.5, 2);
  const Tensor gamma = noise({3}, 4), beta = noise({3}, 5);
  const Tensor y = batch_norm_inference(x, mean, variance, gamma, beta, 1e-3);
  const Tensor expected = (x - mean) / sqrt(variance + 1e-3) * gamma + beta;
  EXPECT_LE(max(absolute(y - expected)).item(), 1e-14);
}

TEST(PoolOp, FirstAndSecondGradientsMatchDifferences) {
  for (const PoolCase& c : pool_cases()) {
    if (c.x.elements() == 0) continue;
    SCOPED_TRACE(c.x.str());
    const Function average = [&](const std::vector<Tensor>& in) {
      return square(average_pool(in[0], c.options));
    };
    const Function largest = [&](const std::vector<Tensor>& in) {
      return square(max_pool(in[0], c.options));
    };
    for (const Function& f : {average, largest}) {
      expect_gradients(f, {noise(c.x, 1)});
      if (c.x.elements() < 150) expect_second_gradients(f, {noise(c.x, 1)});
    }
  }
}

TEST(PoolOp, GradientWithoutAnIndexRecomputesIt) {
  const Function f = [](const std::vector<Tensor>& in) {
    Attrs attrs = pool_attrs(PoolOptions{.window = {2, 2}});
    attrs.set("index", false);
    return plimsoll::apply(get_op("max_pool"), in, attrs)[0];
  };
  expect_gradients(f, {noise({1, 4, 6, 2}, 1)});
}

}  // namespace
}  // namespace plimsoll
