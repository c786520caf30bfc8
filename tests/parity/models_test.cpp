// The eight models of the bench against real Keras in float64: predictions, gradients, moving statistics and
// losses, from equal weights on equal batches. tests/golden/models.json was made by make_model_goldens.py
// beside it; PLIMSOLL_MODEL_GOLDENS names another file.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "models/models.h"
#include "plimsoll/error.h"
#include "plimsoll/program.h"
#include "support/fill.h"
#include "support/sums.h"

namespace plimsoll::models {
namespace {

constexpr double kPrediction = 2e-5;
constexpr double kLoss = 1e-4;  // relative; Adam's first steps turn the smallest gradients into whole ones
constexpr double kGradient = 5e-4;  // of its norm
constexpr double kMoving = 1e-5;

const nlohmann::json& goldens() {
  static const nlohmann::json json = [] {
    const char* path = std::getenv("PLIMSOLL_MODEL_GOLDENS");
    std::ifstream in(path != nullptr ? path : PLIMSOLL_GOLDEN_FOLDER "/models.json");
    return nlohmann::json::parse(in);
  }();
  return json;
}

double norm_of(const Tensor& t) {
  double squares = 0;
  for (int64_t i = 0; i < testing::parts(t); ++i) squares += std::pow(testing::element(t, i), 2);
  return std::sqrt(squares);
}

// Against [norm, sums...] of what is `scale` times the tensor.
void expect_summary(const std::string& name, const Tensor* t, double scale, const std::vector<double>& want,
                    double tolerance, double least = 0) {
  ASSERT_NE(t, nullptr) << name;
  const double allowed = tolerance * std::max(want[0], least);
  EXPECT_NEAR(scale * norm_of(*t), want[0], allowed) << name << ", norm";
  const std::vector<double> sums = testing::weighed_sums(*t, std::ssize(want) - 1);
  for (size_t k = 0; k < sums.size(); ++k) {
    EXPECT_NEAR(scale * sums[k], want[k + 1], allowed) << name << ", part " << k << " of " << sums.size();
  }
}

// The gradient of a key's bias is zero but for rounding: it is measured by the largest of all.
double least_norm(const nlohmann::json& gradients) {
  double largest = 0;
  for (const auto& [name, summary] : gradients.items())
    largest = std::max(largest, summary.at(0).get<double>());
  return 1e-4 * largest;
}

// "conv_bias [winograd]" for every step of a program that is not element by element.
std::set<std::string> kernels_of(const Model& model, int64_t batch) {
  Weights weights;
  const std::string text = Program::compile(train_graph(model, weights, batch)).text();
  std::set<std::string> kernels;
  static const std::regex step(R"(([a-z_0-9]+) (\[(onednn|highway|winograd)[^\]]*\]) ->)");
  for (std::sregex_iterator it(text.begin(), text.end(), step), end; it != end; ++it) {
    kernels.insert((*it)[1].str() + " " + (*it)[2].str());
  }
  return kernels;
}

class BenchModel : public ::testing::TestWithParam<Model> {
 protected:
  const nlohmann::json& want() const { return goldens().at("models").at(std::string(GetParam().name)); }
  int64_t batch() const { return want().at("batch").get<int64_t>(); }
  // Those of the store that do not begin as a Net draws them.
  void start(Weights& weights) const {
    for (const auto& [name, values] : want().at("start").items())
      weights.full(name, DType::f32, {values.at(1).get<int64_t>()}, values.at(0).get<double>());
  }
  std::vector<Tensor> data(uint64_t step) const {
    const auto seed = goldens().at("first_batch_seed").get<uint64_t>();
    return sample_batch(GetParam(), batch(), seed + step * goldens().at("seed_step").get<uint64_t>());
  }
};

INSTANTIATE_TEST_SUITE_P(Models, BenchModel,
                         ::testing::ValuesIn(bench_models().begin(), bench_models().end()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(BenchModel, PredictsAsKeras) {
  Weights weights;
  start(weights);
  const Tensor x = data(0)[0];
  const Tensor p = Program::compile(predict_graph(GetParam(), weights, batch()))({&x, 1})[0];
  const auto expected = want().at("p").get<std::vector<double>>();
  ASSERT_EQ(p.shape().elements(), std::ssize(expected));
  for (int64_t i = 0; i < std::ssize(expected); ++i) {
    EXPECT_NEAR(testing::element(p, i), expected[static_cast<size_t>(i)], kPrediction) << "element " << i;
  }
}

TEST_P(BenchModel, TrainsAsKeras) {
  Weights weights;
  start(weights);
  Program program = Program::compile(train_graph(GetParam(), weights, batch()));
  const auto losses = want().at("losses").get<std::vector<double>>();
  // In fifty layers some rectifiers decide otherwise than in float64, and Adam makes a whole step of what is
  // left.
  const double loose = GetParam().name.starts_with("resnet50") ? 20 : 1;
  for (size_t step = 0; step < losses.size(); ++step) {
    const double tolerance = step > 0 ? loose * kLoss : kLoss;
    EXPECT_NEAR(program(data(step))[0].item(), losses[step], tolerance * std::fabs(losses[step]))
        << "step " << step;
    if (step > 0) continue;
    const double least = least_norm(want().at("gradients"));
    // After one step of Adam, m is a tenth of the gradient.
    for (const auto& [name, summary] : want().at("gradients").items())
      expect_summary(name, weights.find("adam/m/" + name), 10, summary, loose * kGradient, least);
    for (const auto& [name, summary] : want().at("moving").items())
      expect_summary(name, weights.find(name), 1, summary, kMoving);
  }
}

// Otherwise the two tests above would say nothing about what the bench measures.
TEST_P(BenchModel, IsSmallButTakesTheKernelsOfTheBench) {
  const std::set<std::string> small = kernels_of(GetParam(), batch());
  for (const std::string& kernel : kernels_of(GetParam(), GetParam().batch)) {
    EXPECT_TRUE(small.contains(kernel)) << kernel << " is in the bench's program only";
  }
}

}  // namespace
}  // namespace plimsoll::models
