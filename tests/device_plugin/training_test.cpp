// The four small models of the tests train on the interpreter: loss curves are PyTorch's, weights the CPU's,
// whatever the device says it can do.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "device_plugin/interpreter.h"
#include "models/models.h"
#include "graph/op.h"
#include "support/compare.h"
#include "support/fill.h"

namespace plimsoll::testing {
namespace {

using models::Model;
using models::Weights;

// As tests/parity has it: float32 sums in another order drift apart that far.
constexpr double kLossTolerance = 1e-4;
// Of a weight, or of a moment of Adam, after kSteps steps at 1e-3: sums in another order. The most seen is
// 1.2e-6; processors with other vectors differ by more.
constexpr int kSteps = 8;
constexpr double kWeightTolerance = 2e-5;

struct Use {
  Model model;
  std::string options;
};
void PrintTo(const Use& use, std::ostream* out) { *out << use.model.name << " " << use.options; }

std::vector<Use> uses() {
  std::vector<Use> all;
  for (const Model& model : models::parity_models()) {
    for (const char* options :
         {"", "no_in_place", "fuse", "fuse_folds", "no_in_place,fuse_folds",
          "fuse_folds,fused_nodes=4,fused_arguments=6,alignment=256", "library,fuse", "fuse_folds,joins"})
      all.push_back({model, options});
  }
  return all;
}

std::string name_of_use(const ::testing::TestParamInfo<Use>& info) {
  std::string name =
      concat(info.param.model.name, "_", info.param.options.empty() ? "plain" : info.param.options);
  for (const char c : {',', '='}) std::replace(name.begin(), name.end(), c, '_');
  return name;
}

class DeviceTraining : public ::testing::TestWithParam<Use> {};
INSTANTIATE_TEST_SUITE_P(Uses, DeviceTraining, ::testing::ValuesIn(uses()), name_of_use);

// Weights after kSteps steps.
void train(const Model& model, Weights& weights, const CompileOptions& options, uint64_t steps = kSteps,
           void (*begin)(const Weights&) = nullptr) {
  const Graph graph = models::train_graph(model, weights, model.batch);
  if (begin != nullptr) begin(weights);
  Program program = Program::compile(graph, options);
  std::vector<Tensor> outputs(1);
  for (uint64_t step = 0; step < steps; ++step)
    program.run(models::sample_batch(model, model.batch, 100 + step), outputs);
}

TEST_P(DeviceTraining, GivesTheWeightsOfTheCpu) {
  const Model& model = GetParam().model;
  Weights ours, theirs;
  train(model, ours, {});
  train(model, theirs, on(open_tested_device(GetParam().options)));
  ASSERT_EQ(ours.all().size(), theirs.all().size());
  for (size_t i = 0; i < ours.all().size(); ++i) {
    const Tensor &want = ours.all()[i].storage, &got = theirs.all()[i].storage;
    double off = 0;
    for (int64_t k = 0; k < want.shape().elements(); ++k)
      off = std::max(off, std::fabs(element(got, k) - element(want, k)));
    EXPECT_LE(off, kWeightTolerance) << ours.all()[i].name;
  }
}

// The models of the benchmark, as training shows them: twenty steps on fresh batches. Too slow for an
// interpreter.
class DeviceSteps20 : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Models, DeviceSteps20,
                         ::testing::Values("mlp10_b32", "mnist_b128", "cnn64bn_b32", "lstm_b32",
                                           "transformer_b16"),
                         [](const auto& info) { return std::string(info.param); });

// Of all weights and moments together. Where a gradient is but rounding (of a bias in front of a batch
// normalisation), Adam makes steps of full length of it, and the CPU does not repeat itself either: then the
// measure is a run of the CPU that begins one rounding away.
constexpr double kTwentySteps = 1e-4;

double distance(const Weights& from, const Weights& to) {
  double differences = 0, all = 0;
  for (size_t i = 0; i < from.all().size(); ++i) {
    const Tensor &want = to.all()[i].storage, &got = from.all()[i].storage;
    if (!is_float(want.dtype())) continue;
    for (int64_t k = 0; k < want.shape().elements(); ++k) {
      const double off = element(got, k) - element(want, k);
      differences += off * off;
      all += element(want, k) * element(want, k);
    }
  }
  return std::sqrt(differences / all);
}

void nudge(const Weights& weights) {
  for (const auto& w : weights.all()) {
    if (w.storage.dtype() != DType::f32 || w.name.starts_with("adam/")) continue;
    float* const p = w.storage.data<float>();
    for (int64_t k = 0; k < w.storage.shape().elements(); ++k) p[k] = std::nextafter(p[k], 2.0f);
  }
}

TEST_P(DeviceSteps20, GiveTheWeightsOfTheCpu) {
  if (tests_the_interpreter()) GTEST_SKIP() << "PLIMSOLL_TEST_DEVICE is not set";
  const Model& model = models::get_model(GetParam());
  Weights ours, theirs, nudged;
  train(model, ours, {}, 20);
  train(model, nudged, {}, 20, nudge);
  train(model, theirs, on(open_tested_device("")), 20);
  const double off = distance(theirs, ours), own = distance(nudged, ours);
  std::printf("%s: weights differ by %.2g of their norm, those of a CPU one rounding away by %.2g\n",
              GetParam(), off, own);
  EXPECT_LE(off, std::max(kTwentySteps, 3 * own));
}

// The batch in two ranges: the same sums, in another order.
TEST_P(DeviceTraining, GivesTheWeightsOfTheCpuInParts) {
  const Model& model = GetParam().model;
  Weights ours, theirs;
  train(model, ours, {});
  CompileOptions options = on(open_interpreter(GetParam().options));
  options.parts = 2;
  train(model, theirs, options);
  for (size_t i = 0; i < ours.all().size(); ++i) {
    const Tensor &want = ours.all()[i].storage, &got = theirs.all()[i].storage;
    for (int64_t k = 0; k < want.shape().elements(); ++k)
      ASSERT_NEAR(element(got, k), element(want, k), kWeightTolerance) << ours.all()[i].name << " " << k;
  }
}

// The smallest arena there is a plan for: values are dropped and made again.
TEST_P(DeviceTraining, GivesTheSameWeightsUnderALine) {
  const Model& model = GetParam().model;
  Weights free, planned, lined;
  CompileOptions options = on(open_interpreter(GetParam().options));
  train(model, free, options);
  options.memory = 0;
  options.memory = Program::forecast(models::train_graph(model, planned, model.batch), options).arena;
  train(model, lined, options);
  for (size_t i = 0; i < free.all().size(); ++i) {
    const Tensor &want = free.all()[i].storage, &got = lined.all()[i].storage;
    for (int64_t k = 0; k < want.shape().elements(); ++k)
      ASSERT_EQ(element(got, k), element(want, k)) << free.all()[i].name << " " << k;
  }
}

class DeviceParity : public ::testing::TestWithParam<Model> {};
INSTANTIATE_TEST_SUITE_P(Models, DeviceParity,
                         ::testing::ValuesIn(models::parity_models().begin(), models::parity_models().end()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(DeviceParity, LossCurveIsPyTorchs) {
  const Model& model = GetParam();
  std::ifstream in(PLIMSOLL_GOLDEN_FOLDER "/parity.json");
  const nlohmann::json goldens = nlohmann::json::parse(in);
  const auto first_seed = goldens.at("first_batch_seed").get<uint64_t>();
  const auto want = goldens.at("losses").at(std::string(model.name)).get<std::vector<double>>();
  Weights weights;
  Program program = Program::compile(models::train_graph(model, weights, model.batch),
                                     on(open_tested_device("fuse_folds")));
  for (size_t step = 0; step < want.size(); ++step) {
    const double loss =
        program(models::sample_batch(model, model.batch, first_seed + 10 * (step % 4)))[0].item();
    ASSERT_NEAR(loss, want[step], kLossTolerance * std::fabs(want[step])) << "step " << step;
  }
}

// Dropout's masks are the same bits, so that training with it is too.
TEST(DeviceRandom, BitsAreThoseOfTheCpu) {
  Graph graph;
  const Tensor key = graph.input("key", DType::u32, {2});
  for (const DType t : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i32, DType::u64}) {
    graph.output("", apply1(get_op("random_uniform"), {key},
                            {{"dtype", t}, {"shape", Ints{37}}, {"low", 1.0}, {"high", 100.0}}));
    if (is_float(t))
      graph.output("", apply1(get_op("random_normal"), {key}, {{"dtype", t}, {"shape", Ints{37}}}));
  }
  graph.output("", apply1(get_op("random_bits"), {key}, {{"shape", Ints{131}}}));
  graph.output("", apply1(get_op("fold_in"), {key, graph.input("use", DType::u32, {})}));
  const std::vector<Tensor> in = {fill(DType::u32, {2}, 0, 4e9, 1), Tensor::full(DType::u32, {}, 5)};
  const std::vector<Tensor> want = Program::compile(graph)(in);
  const std::vector<Tensor> got = Program::compile(graph, on(open_tested_device("")))(in);
  for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(bit_difference(got[i], want[i]), "") << i;
}

}  // namespace
}  // namespace plimsoll::testing
