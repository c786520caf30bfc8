// Second derivatives of the library-sized ops, and what their single outputs cannot show in the sweep.
#include "ops/gradient_testing.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

using namespace testing_gradients;

TEST(SoftmaxOp, SecondGradientsMatchDifferences) {
  expect_second_gradients([](const auto& x) { return softmax(x[0], 1); }, {noise({2, 5, 3}, 1)});
  expect_second_gradients([](const auto& x) { return log_softmax(x[0]); }, {noise({3, 7}, 2)});
}

TEST(CrossEntropyOp, SecondGradientsMatchDifferences) {
  const std::vector<int32_t> labels = {4, 0, 2};
  const Tensor sparse = Tensor::from<int32_t>(labels, {3});
  expect_second_gradients([&](const auto& x) { return sparse_softmax_cross_entropy(x[0], sparse); },
                          {noise({3, 5}, 1)});
  expect_second_gradients([](const auto& x) { return softmax_cross_entropy(x[0], x[1]); },
                          {noise({3, 5}, 2), noise({3, 5}, 3, 0, 1)});
}

TEST(CrossEntropyOp, SigmoidGradientIsRightAtZero) {
  Graph graph;
  const Tensor x = graph.input("x", DType::f64, {2}), t = graph.input("t", DType::f64, {2});
  graph.output("dx", gradients(sum(sigmoid_cross_entropy(x, t)), {{x}})[0]);
  const std::vector<double> zeros = {0, 0}, targets = {0, 1};
  const std::vector<Tensor> dx =
      Program::compile(graph)({{Tensor::from<double>(zeros, {2}), Tensor::from<double>(targets, {2})}});
  EXPECT_EQ(dx[0].data<double>()[0], 0.5);
  EXPECT_EQ(dx[0].data<double>()[1], -0.5);
}

TEST(LayerNormOp, SecondGradientsMatchDifferences) {
  expect_second_gradients([](const auto& x) { return layer_norm(x[0], x[1], x[2], 1e-3); },
                          {noise({3, 6}, 1), noise({6}, 2), noise({6}, 3)});
}

TEST(EmbeddingOp, SecondGradientsMatchDifferences) {
  const std::vector<int64_t> indices = {1, 3, 1, -1};
  const Tensor at = Tensor::from<int64_t>(indices, {4});
  expect_second_gradients([&](const auto& x) { return square(embedding(x[0], at)); }, {noise({5, 3}, 1)});
}

TEST(AttentionOp, SecondGradientsMatchDifferences) {
  for (const bool causal : {false, true}) {
    expect_second_gradients(
        [&](const auto& x) { return attention(x[0], x[1], x[2], x[3], 0.7, causal); },
        {noise({1, 3, 2, 2}, 1), noise({1, 4, 2, 2}, 2), noise({1, 4, 2, 3}, 3), noise({2, 1, 4}, 4)});
  }
}

TEST(LstmOp, EveryOutputHasGradients) {
  const std::vector<Tensor> at = {noise({2, 3, 2}, 1), noise({2, 3}, 2),  noise({2, 3}, 3),
                                  noise({2, 12}, 4),   noise({3, 12}, 5), noise({12}, 6)};
  for (size_t output : {0, 1, 2}) {
    expect_gradients([&](const auto& x) { return lstm(x[0], x[1], x[2], x[3], x[4], x[5])[output]; }, at);
  }
  expect_second_gradients([](const auto& x) { return lstm(x[0], x[1], x[2], x[3], x[4], x[5], true)[0]; },
                          at);
}

// From 16 rows on the products with the input weights are part of the steps.
TEST(LstmOp, LargerBatchesHaveGradients) {
  expect_gradients([](const auto& x) { return lstm(x[0], x[1], x[2], x[3], x[4], x[5])[0]; },
                   {noise({17, 2, 3}, 1), noise({17, 4}, 2), noise({17, 4}, 3), noise({3, 16}, 4),
                    noise({4, 16}, 5), noise({16}, 6)});
}

TEST(GruOp, EveryOutputHasGradients) {
  const std::vector<Tensor> at = {noise({2, 3, 2}, 1), noise({2, 3}, 2), noise({2, 9}, 3), noise({3, 9}, 4),
                                  noise({2, 9}, 5)};
  for (size_t output : {0, 1}) {
    expect_gradients([&](const auto& x) { return gru(x[0], x[1], x[2], x[3], x[4])[output]; }, at);
  }
  expect_second_gradients([](const auto& x) { return gru(x[0], x[1], x[2], x[3], x[4], true)[0]; }, at);
}

TEST(RecurrentOps, RefuseWeightsOfAnotherSize) {
  const auto make = [] {
    lstm(noise({2, 3, 4}, 1), noise({2, 5}, 2), noise({2, 5}, 3), noise({4, 20}, 4), noise({5, 19}, 5),
         noise({20}, 6));
  };
  try {
    make();
    FAIL() << "expected an Error";
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()), "[lstm] expected recurrent of type float64(5, 20), got float64(5, 19)");
  }
}

}  // namespace
}  // namespace plimsoll
