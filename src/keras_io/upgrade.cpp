#include "keras_io/upgrade.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "keras_io/json.h"
#include "layers/base/json_parts.h"
#include "layers/base/operands.h"
#include "layers/base/operation.h"
#include "keras_io/upgrade_function.h"
#include "keras_io/upgrade_layer.h"

namespace plimsoll::keras_io {
namespace {

// Keras 1 had one layer for all ways to merge.
void upgrade_merge(Json& layer) {
  const std::map<std::string, std::string, std::less<>> classes = {
      {"sum", "Add"},     {"mul", "Multiply"},       {"ave", "Average"},
      {"max", "Maximum"}, {"concat", "Concatenate"}, {"dot", "Dot"}};
  const Json& config = layer["config"];
  const std::string name = text_of(config, "name");
  const auto known = classes.find(text_of(config, "mode"));
  if (known == classes.end()) fail(ErrorKind::unsupported, name, "merges by '", text_of(config, "mode"), "'");
  Json upgraded = {{"name", name}};
  if (known->second == "Concatenate" && find(config, "concat_axis"))
    upgraded["axis"] = *find(config, "concat_axis");
  if (known->second == "Dot" && find(config, "dot_axes")) upgraded["axes"] = *find(config, "dot_axes");
  layer["class_name"] = known->second;
  layer["config"] = std::move(upgraded);
}

// Keras 3 leaves the module out of .h5 files, though a function (ops.add) may be called as a layer is
// (layers.Add). A layer can be trainable or has a dtype, unless it is a function with such an argument.
bool is_nameless_operation(const Json& layer) {
  const Json* nodes = find(layer, "inbound_nodes");
  const bool of_function = !layer["config"].contains("dtype") || has_operation(text_of(layer, "class_name"));
  return !find(layer, "module") && layer["config"].is_object() && !layer["config"].contains("trainable") &&
         of_function && text_of(layer, "class_name") != "InputLayer" && nodes && nodes->is_array() &&
         !nodes->empty() && (*nodes)[0].is_object();
}

void upgrade_any(Json& layer) {
  const std::string class_name = text_of(layer, "class_name");
  if (class_name.empty() || !find(layer, "config")) return;
  if (is_nameless_operation(layer)) {
    layer["module"] = module_of_operation(class_name);
    return;
  }
  if (class_name == "TFOpLambda" || class_name == "SlicingOpLambda") return upgrade_function(layer);
  if (class_name == "Merge")
    upgrade_merge(layer);
  else
    upgrade_layer(layer);
  if (!layer.contains("inbound_nodes") || !layer["inbound_nodes"].is_array()) return;
  for (Json& node : layer["inbound_nodes"]) node = upgrade_node(node);
}

// The input that older chains kept in their first layer, which may be a model of its own.
Json input_from(const Json& layer) {
  const Json* config = find(layer, "config");
  const Json* inner = config && config->is_object() ? find(*config, "layers") : config;
  if (inner && inner->is_array()) return inner->empty() ? Json() : input_from((*inner)[0]);
  const Json* shape = config ? find(*config, "batch_input_shape") : nullptr;
  if (!shape && config && find(*config, "layer")) return input_from(*find(*config, "layer"));
  if (!shape) return {};
  const bool indices = text_of(layer, "class_name") == "Embedding";
  std::string dtype = indices ? "int32" : text_of(*config, "dtype");
  return {{"class_name", "InputLayer"},
          {"config",
           {{"batch_shape", *shape},
            {"dtype", dtype.empty() ? "float32" : dtype},
            {"name", text_of(*config, "name") + "_input"}}}};
}

void upgrade_sequential(Json& model) {
  Json& config = model["config"];
  if (config.is_array()) config = {{"layers", Json(config)}};
  if (!config.contains("layers") || !config["layers"].is_array()) return;
  Json layers = Json::array();
  for (const Json& layer : config["layers"]) {
    if (layers.empty() && text_of(layer, "class_name") != "InputLayer") {
      if (Json input = input_from(layer); !input.is_null()) layers.push_back(std::move(input));
    }
    layers.push_back(layer);
    upgrade_any(layers.back());
  }
  config["layers"] = std::move(layers);
}

Json upgrade_optimizer(const Json& optimizer) {
  const Json* const stored = find(optimizer, "config");
  if (!stored || !stored->is_object()) return optimizer;
  Json upgraded = optimizer;
  const std::string class_name = text_of(optimizer, "class_name");  // "Custom>Adam" in some versions
  upgraded["class_name"] = class_name.substr(class_name.rfind('>') + 1);
  Json& config = upgraded["config"];
  if (class_name.starts_with("LossScaleOptimizer")) {  // "...V3" in some versions
    upgraded["class_name"] = "LossScaleOptimizer";
    config.erase("dynamic");
    if (config.contains("inner_optimizer"))
      config["inner_optimizer"] = upgrade_optimizer(config["inner_optimizer"]);
    return upgraded;
  }
  unwrap_values(config);
  if (config.contains("lr")) config["learning_rate"] = Json(config["lr"]);
  const Json* decay = find(config, "decay");
  if (decay && decay->is_number() && decay->get<double>() != 0 && find(config, "learning_rate")) {
    config["learning_rate"] = {{"class_name", "InverseTimeDecay"},
                               {"config",
                                {{"initial_learning_rate", Json(config["learning_rate"])},
                                 {"decay_steps", 1},
                                 {"decay_rate", *decay}}}};
  }
  for (const char* key :
       {"lr", "decay", "jit_compile", "is_legacy_optimizer", "schedule_decay", "gradient_aggregator"}) {
    config.erase(key);
  }
  for (const char* key : {"weight_decay", "use_ema"}) {  // some versions wrote false or 0 for none
    if (!config.contains(key)) continue;
    const Json& value = config[key];
    if (value.is_boolean() ? !value.get<bool>() : value == 0) config.erase(key);
  }
  if (config.contains("epsilon") && config["epsilon"].is_null()) config.erase("epsilon");
  return upgraded;
}

bool is_metric_name(const std::string& name) {
  try {
    return make_object(Family::metric, name) != nullptr;
  } catch (const Error&) {
    return false;
  }
}

// A function as a metric, under its name. Of a model with several outputs that begins with the output's:
// "price_mae". A name of the writer's own says nothing, then the function counts.
std::string wrapped_metric(const Json& config) {
  const std::string name = text_of(config, "name"), function = text_of(config, "fn");
  for (size_t at = 0; at < name.size();) {
    if (is_metric_name(name.substr(at))) return name.substr(at);
    const size_t next = name.find('_', at);
    at = next == std::string::npos ? name.size() : next + 1;
  }
  return function.empty() ? name : function;
}

// Losses and metrics by object; "fn" and "auto" are things of the past.
void upgrade_objects(Json& json) {
  if (!json.is_structured()) return;
  if (json.is_object() && json.contains("class_name") && json.contains("config") &&
      json["config"].is_object()) {
    Json& config = json["config"];
    if (text_of(json, "class_name") == "MeanMetricWrapper") {
      json = wrapped_metric(config);
      return;
    }
    if (text_of(json, "class_name") == "LossFunctionWrapper") {
      json = text_of(config, "name");
      return;
    }
    config.erase("fn");
    if (text_of(config, "reduction") == "auto") config["reduction"] = "sum_over_batch_size";
    return;
  }
  for (Json& part : json) upgrade_objects(part);
}

// In older files the calls of a model inside count from 1, because its own making was the first; here they
// count from 0, and only where a functional model's outputs are listed from 1.
class InnerCalls {
 public:
  explicit InnerCalls(const Json& config) {
    for (const Json& layer : config["layers"]) {
      if (!is_old_network(layer)) continue;
      const std::string name =
          text_of(layer, "name").empty() ? text_of(layer["config"], "name") : text_of(layer, "name");
      lowest_[name] = INT64_MAX;
      if (text_of(layer, "class_name") != "Sequential") functional_.insert(name);
    }
    if (lowest_.empty()) return;
    for (const Json& layer : config["layers"]) {
      if (const Json* nodes = find(layer, "inbound_nodes")) look(*nodes);
    }
    if (const Json* outputs = find(config, "output_layers")) look(*outputs);
  }

  void renumber(Json& json, bool outputs) const {
    if (lowest_.empty() || !json.is_structured()) return;
    if (is_reference(json)) {
      const std::string name = json[0].get<std::string>();
      const auto found = lowest_.find(name);
      const bool counts_from_1 = found != lowest_.end() && found->second == 1;
      if (counts_from_1 && !(outputs && functional_.count(name))) json[1] = json[1].get<int64_t>() - 1;
    }
    for (Json& part : json) renumber(part, outputs);
  }

 private:
  static bool is_old_network(const Json& layer) {
    const Json* config = find(layer, "config");
    const Json* nodes = find(layer, "inbound_nodes");
    const bool network = config && (config->is_array() || find(*config, "layers"));
    return network && nodes && nodes->is_array() && !nodes->empty() && (*nodes)[0].is_array();
  }
  void look(const Json& json) {
    if (is_reference(json)) {
      const auto found = lowest_.find(json[0].get<std::string>());
      if (found != lowest_.end()) found->second = std::min(found->second, json[1].get<int64_t>());
    }
    if (!json.is_structured()) return;
    for (const Json& part : json) look(part);
  }

  std::map<std::string, int64_t> lowest_;
  std::set<std::string> functional_;
};

}  // namespace

void upgrade_model(Json& model) {
  if (!find(model, "config")) return;
  if (model["config"].is_array() || text_of(model, "class_name") == "Sequential")
    return upgrade_sequential(model);
  if (!find(model["config"], "layers") || !model["config"]["layers"].is_array()) return;
  Json& config = model["config"];
  const InnerCalls calls(config);
  if (config.contains("output_layers")) calls.renumber(config["output_layers"], true);
  for (Json& layer : config["layers"]) {
    if (layer.is_object() && layer.contains("inbound_nodes")) calls.renumber(layer["inbound_nodes"], false);
    upgrade_any(layer);
  }
}

bool keep_old_meanings(Json& model) {
  bool found = false;
  if (!model.is_structured()) return found;
  for (auto& [key, value] : model.items()) {
    if (model.is_object() && key.ends_with("activation") && value.is_string() && value == "hard_sigmoid") {
      value = "hard_sigmoid_keras2";
      found = true;
    }
    found |= keep_old_meanings(value);
  }
  return found;
}

void upgrade_compile_config(Json& config) {
  if (!config.is_object()) return;
  if (config.contains("optimizer")) config["optimizer"] = upgrade_optimizer(config["optimizer"]);
  for (const char* key : {"loss", "metrics", "weighted_metrics"}) {
    if (config.contains(key)) upgrade_objects(config[key]);
  }
}

Json upgrade_training_config(const Json& config, size_t outputs) {
  Json upgraded = config.is_object() ? config : Json::object();
  if (const Json* optimizer = find(config, "optimizer_config")) upgraded["optimizer"] = *optimizer;
  upgraded.erase("optimizer_config");
  upgrade_compile_config(upgraded);
  const auto is_metric = [](const Json& m) { return !m.is_array(); };
  for (const char* key : {"metrics", "weighted_metrics"}) {
    const Json* list = find(upgraded, key);
    if (outputs < 2 || !list || !list->is_array() || list->empty() ||
        !std::all_of(list->begin(), list->end(), is_metric))
      continue;
    upgraded[key] = Json(std::vector<Json>(outputs, *list));
  }
  return upgraded;
}

}  // namespace plimsoll::keras_io
