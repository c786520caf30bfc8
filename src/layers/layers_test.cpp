// Every layer against real Keras: tests/golden/layers.json and layers.npz, made by
// tests/golden/make_layer_goldens.py.
#include "plimsoll/layers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include "common/json.h"

#include "layers/base/config_json.h"
#include "layers/base/trace.h"
#include "plimsoll/autodiff.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/program.h"
#include "support/compare.h"
#include "support/fill.h"
#include "support/npz.h"

namespace plimsoll {
namespace {

using testing::fill;
using testing::hash_text;

constexpr double kOutputTolerance = 1e-5;
constexpr double kGradientTolerance = 1e-4;

struct Goldens {
  ConfigJson cases;
  std::map<std::string, testing::NpyArray> values;
};

const Goldens& goldens() {
  static const Goldens all = [] {
    const std::string folder = PLIMSOLL_GOLDEN_FOLDER;
    std::ifstream file(folder + "/layers.json");
    return Goldens{ConfigJson::parse(file), testing::read_npz(folder + "/layers.npz")};
  }();
  return all;
}

const ConfigJson& case_named(const std::string& name) {
  for (const ConfigJson& c : goldens().cases) {
    if (c["name"] == name) return c;
  }
  throw std::runtime_error("no such case");
}

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const ConfigJson& c : goldens().cases) names.push_back(c["name"]);
  return names;
}

Shape shape_of(const ConfigJson& j) { return Shape(j.get<Ints>()); }

Tensor made(const ConfigJson& spec, const std::string& key) {
  const DType dtype = *dtype_from_name(spec["dtype"].get<std::string>());
  return fill(dtype, shape_of(spec["shape"]), spec["low"], spec["high"], hash_text(key));
}

Attrs constants_of(const ConfigJson& c) {
  Attrs constants;
  const ConfigJson given = c.value("constants", ConfigJson::object());
  for (const auto& [key, value] : given.items()) constants.set(key, value.get<bool>());
  return constants;
}

// One case, traced: forward, gradients and updates, in the order of the golden file.
class LayerCase {
 public:
  explicit LayerCase(const std::string& name)
      : name_(name), case_(case_named(name)), golden_(goldens().values.at(name)) {
    layer_ = Layer(std::static_pointer_cast<LayerBase>(object_from_json(Family::layer, case_["layer"])));
  }

  // Keys may stand in another order, and no list is as good as an empty one.
  void check_config() const { EXPECT_EQ(comparable(object_to_json(*layer_)), comparable(case_["layer"])); }
  static nlohmann::json comparable(const ConfigJson& json) {
    if (json.is_array() && json.empty()) return nullptr;
    if (!json.is_structured()) return nlohmann::json::parse(json.dump());
    nlohmann::json same = json.is_array() ? nlohmann::json::array() : nlohmann::json::object();
    for (const auto& [key, value] : json.items()) {
      if (json.is_array())
        same.push_back(comparable(value));
      else
        same[key] = comparable(value);
    }
    return same;
  }

  void check_values() {
    build();
    Graph graph;
    Trace trace(graph, case_.value("training", false));
    add_inputs(graph, trace);
    const std::vector<Tensor> ys = trace.call(layer_, inputs_, arguments_);
    ASSERT_EQ(ys.size(), case_["outputs"].size());
    for (size_t i = 0; i < ys.size(); ++i) ASSERT_EQ(ys[i].shape(), shape_of(case_["outputs"][i]));
    const Tensor mask = trace.mask(ys[0]);
    ASSERT_EQ(mask.defined(), case_["output_mask"].get<bool>());

    std::vector<std::pair<Tensor, double>> parts;
    for (const Tensor& y : ys) parts.emplace_back(y, kOutputTolerance);
    if (mask.defined()) parts.emplace_back(cast(mask, DType::f32), kOutputTolerance);
    std::vector<Tensor> wanted;
    for (const Tensor& x : inputs_) {
      if (is_float(x.dtype())) wanted.push_back(x);
    }
    Tensor total = loss(trace, ys);
    for (const VariablePtr& v : layer_->weights()) {
      if (!v->trainable || !trains(v)) parts.emplace_back(trace.value(v), kOutputTolerance);
    }
    for (const VariablePtr& v : layer_->trainable_weights()) wanted.push_back(trace.initial_value(v));
    if (!case_.value("gradients", true)) wanted.clear();
    for (const Tensor& g : gradients(total, wanted)) parts.emplace_back(g, kGradientTolerance);
    compare(graph, parts);
  }

 private:
  bool trains(const VariablePtr& v) const {
    const std::vector<VariablePtr> all = layer_->trainable_weights();
    return std::find(all.begin(), all.end(), v) != all.end();
  }

  void add_inputs(Graph& graph, Trace& trace) {
    inputs_.clear();
    arguments_ = {{}, constants_of(case_)};
    values_.clear();
    const ConfigJson flags = case_.value("masks", ConfigJson::array());
    for (size_t i = 0; i < case_["inputs"].size(); ++i) {
      values_.push_back(made(case_["inputs"][i], concat(name_, "/x", i)));
      inputs_.push_back(graph.input(concat("x", i), values_[i].dtype(), values_[i].shape()));
      if (i >= flags.size() || !flags[i].get<bool>()) continue;
      const Shape& whole = values_[i].shape();
      const Shape shape = whole.rank() > 2 ? Shape{whole[0], whole[1]} : whole;
      trace.set_mask(inputs_[i],
                     graph.constant(fill(DType::boolean, shape, 0, 1, hash_text(concat(name_, "/m", i)))));
    }
    const ConfigJson named = case_.value("arguments", ConfigJson::object());
    for (const auto& [key, spec] : named.items()) {
      arguments_.tensors.emplace_back(key, graph.constant(made(spec, name_ + "/" + key)));
    }
  }

  void build() {
    Graph graph;
    Trace trace(graph, false);
    add_inputs(graph, trace);
    trace.call(layer_, inputs_, arguments_);
    const std::vector<VariablePtr> weights = layer_->weights();
    ASSERT_EQ(weights.size(), case_["weights"].size());
    std::vector<Tensor> values;
    for (size_t i = 0; i < weights.size(); ++i) {
      ASSERT_EQ(weights[i]->value.shape(), shape_of(case_["weights"][i])) << weights[i]->name;
      const ConfigJson& range = case_["weight_ranges"][i];
      const bool real = is_float(weights[i]->value.dtype());
      values.push_back(real ? fill(weights[i]->value.dtype(), weights[i]->value.shape(), range[0], range[1],
                                   hash_text(concat(name_, "/w", i)))
                            : weights[i]->value);
    }
    layer_->set_weights(values);
  }

  Tensor loss(Trace& trace, const std::vector<Tensor>& ys) {
    Tensor total;
    const auto add = [&](const Tensor& part) { total = total.defined() ? total + part : part; };
    for (size_t i = 0; i < ys.size(); ++i) {
      add(sum(cast(ys[i], DType::f32) *
              fill(DType::f32, ys[i].shape(), -1, 1, hash_text(concat(name_, "/dy", i)))));
    }
    for (const Tensor& part : trace.losses()) add(part);
    for (const VariablePtr& v : layer_->trainable_weights()) {
      if (v->regularizer) add(v->regularizer->loss(trace.initial_value(v)));
    }
    return total;
  }

  void compare(Graph& graph, const std::vector<std::pair<Tensor, double>>& parts) {
    for (size_t i = 0; i < parts.size(); ++i)
      graph.output(concat("part", i), cast(parts[i].first, DType::f32));
    const std::vector<Tensor> got = Program::compile(graph)(values_);
    const float* want = golden_.data<float>();
    const float* const end = want + golden_.elements();
    for (size_t i = 0; i < got.size(); ++i) {
      const int64_t count = got[i].shape().elements();
      ASSERT_LE(count, end - want) << "part " << i;
      const Tensor expected = Tensor::from<float>({want, static_cast<size_t>(count)}, got[i].shape());
      EXPECT_EQ(testing::difference(got[i], expected, parts[i].second, 1.0), "")
          << "part " << i << " of " << got.size();
      want += count;
    }
    EXPECT_EQ(want, end);
  }

  std::string name_;
  const ConfigJson& case_;
  const testing::NpyArray& golden_;
  Layer layer_;
  std::vector<Tensor> inputs_, values_;
  Arguments arguments_;
};

class GoldenLayer : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenLayer, ConfigIsKeras) { LayerCase(GetParam()).check_config(); }
TEST_P(GoldenLayer, ComputesWhatKerasDoes) { LayerCase(GetParam()).check_values(); }

INSTANTIATE_TEST_SUITE_P(Layers, GoldenLayer, ::testing::ValuesIn(case_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace plimsoll
