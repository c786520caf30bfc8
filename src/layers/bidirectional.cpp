// Bidirectional: a recurrent layer forwards in time, another backwards.
#include "common/json.h"
#include "layers/base/config_json.h"
#include "layers/base/parts.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/recurrent.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

struct BidirectionalLayer final : LayerBase {
  Layer forward_layer, backward_layer;
  std::optional<std::string> merge_mode = "concat";
  bool return_sequences = false;

  std::string_view class_name() const override { return "Bidirectional"; }
  void visit_inner(const std::function<void(std::string_view, const Layer&)>& visit) const override {
    if (forward_layer) visit("forward_layer", forward_layer);
    if (backward_layer) visit("backward_layer", backward_layer);
  }
  void fields(Fields& f) override {
    f("merge_mode", merge_mode);
    f("layer", forward_layer);
    f("backward_layer", backward_layer);
    if (f.reading()) settle();
  }

  // Makes the layer that is missing, and checks that the two fit.
  void settle() {
    const ConfigJson given = walk_config(forward_layer);
    const bool sequences = given["return_sequences"];
    forward_layer = remade(forward_layer, given, forward_layer->name(), sequences);
    if (backward_layer) {
      backward_layer = remade(backward_layer, walk_config(backward_layer), backward_layer->name(), sequences);
    } else {
      ConfigJson turned = given;
      turned["go_backwards"] = !given["go_backwards"].get<bool>();
      backward_layer =
          remade(forward_layer, turned, "backward_" + plain_name(forward_layer->name()), sequences);
    }
    const ConfigJson other = walk_config(backward_layer);
    require(given["go_backwards"] != other["go_backwards"], name(),
            "expected one layer that goes backwards, and one not");
    for (const char* key : {"return_sequences", "return_state", "stateful"}) {
      require(given[key] == other[key], name(),
              "expected two layers alike in return_sequences, return_state and stateful");
    }
    return_sequences = sequences;
  }
  // The config of a layer that walks over time: SimpleRNN, LSTM, GRU, RNN, ConvLSTM, or one of the program's
  // own.
  static ConfigJson walk_config(const Layer& layer) {
    ConfigJson config = layer ? config_to_json(*layer) : ConfigJson();
    for (const char* key : {"go_backwards", "return_sequences", "return_state", "stateful"}) {
      require(config.is_object() && config.contains(key) && config[key].is_boolean(), "Bidirectional",
              "expected a recurrent layer inside, got ", layer ? layer->class_name() : "nothing");
    }
    return config;
  }
  // As Keras makes its two layers: by the config, so that no weights are shared. One that has been built, or
  // is as it should be, stays.
  static Layer remade(const Layer& layer, ConfigJson config, const std::string& name, bool sequences) {
    if (config.contains("zero_output_for_mask")) config["zero_output_for_mask"] = sequences;
    config["name"] = name;
    if (config == config_to_json(*layer)) return layer;
    auto made = std::static_pointer_cast<LayerBase>(make_object(Family::layer, layer->class_name()));
    config_from_json(*made, config);
    return Layer(std::move(made));
  }
  static std::string plain_name(const std::string& name) {
    constexpr std::string_view kForward = "forward_";
    return name.starts_with(kForward) ? name.substr(kForward.size()) : name;
  }

  Tensor merge(const Tensor& a, const Tensor& b) const {
    if (*merge_mode == "sum") return a + b;
    if (*merge_mode == "mul") return a * b;
    if (*merge_mode == "ave") return (a + b) / 2.0;
    const Tensor both[] = {a, b};
    return concatenate(both, -1);
  }

  std::vector<Tensor> call_many(Scope& s, std::span<const Tensor> xs) override {
    require(!xs.empty(), name(), "expected an input");
    if (merge_mode) check_choice(name(), "merge_mode", *merge_mode, {"sum", "mul", "ave", "concat"});
    std::vector<Tensor> states(xs.begin() + 1, xs.end());
    if (states.empty()) states = s.arguments("initial_state");
    const auto half = states.size() / 2;
    std::vector<Tensor> there = {xs[0]}, back = {xs[0]};
    there.insert(there.end(), states.begin(), states.begin() + static_cast<std::ptrdiff_t>(half));
    back.insert(back.end(), states.begin() + static_cast<std::ptrdiff_t>(half), states.end());

    const std::vector<Tensor> ys = s.call(forward_layer, there);
    const std::vector<Tensor> reversed = s.call(backward_layer, back);
    const Tensor& y = ys[0];
    const Tensor z = return_sequences ? reverse(reversed[0], {1}) : reversed[0];
    std::vector<Tensor> results = merge_mode ? std::vector<Tensor>{merge(y, z)} : std::vector<Tensor>{y, z};
    if (return_sequences) {
      for (const Tensor& result : results) s.set_mask(result, s.mask(xs[0]));
    }
    results.insert(results.end(), ys.begin() + 1, ys.end());
    results.insert(results.end(), reversed.begin() + 1, reversed.end());
    return results;
  }
};

}  // namespace

Layer Bidirectional(const Layer& rnn, const BidirectionalOptions& options) {
  auto made = std::make_shared<BidirectionalLayer>();
  const ConfigJson config = BidirectionalLayer::walk_config(rnn);
  made->forward_layer = BidirectionalLayer::remade(
      rnn, config, "forward_" + BidirectionalLayer::plain_name(rnn->name()), config["return_sequences"]);
  made->backward_layer = options.backward_layer;
  made->merge_mode = options.merge_mode;
  made->settle();
  return own_layer(std::move(made), options);
}

std::span<const ClassDef> classes_bidirectional() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "Bidirectional", "", make_default<BidirectionalLayer>, {"layer"}}};
  return rows;
}

}  // namespace plimsoll
