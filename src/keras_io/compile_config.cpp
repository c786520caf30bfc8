#include "keras_io/compile_config.h"

#include "keras_io/json_parts.h"
#include "layers/base/config_json.h"

namespace plimsoll::keras_io {
namespace {

// "mse" or {"class_name": ..., "config": ...}; null: none.
template <class Base>
Ref<Base> read_object(const Json& json) {
  if (json.is_null()) return {};
  if (json.is_string()) return Ref<Base>(json.get<std::string>());
  // A function of Keras instead of an object.
  if (text_of(json, "class_name") == "function") return Ref<Base>(text_of(json, "config"));
  return Ref<Base>(std::static_pointer_cast<Base>(object_from_json(Base::kFamily, json)));
}

bool is_object(const Json& json) {
  return json.is_string() || (json.is_object() && json.contains("class_name"));
}

PerOutput<Loss> read_losses(const Json& json) {
  if (is_object(json)) return PerOutput<Loss>(read_object<LossBase>(json));
  PerOutput<Loss> losses;
  if (json.is_array()) {
    for (const Json& part : json) losses.list.push_back(read_object<LossBase>(part));
  } else if (json.is_object()) {
    for (const auto& [name, part] : json.items()) losses.by_name.emplace(name, read_object<LossBase>(part));
  }
  return losses;
}

std::vector<Metric> read_list(const Json& json) {
  std::vector<Metric> list;
  if (is_object(json))
    list.push_back(read_object<MetricBase>(json));
  else if (json.is_array()) {
    for (const Json& part : json) {
      if (is_object(part)) list.push_back(read_object<MetricBase>(part));
    }
  }
  return list;
}

// A list for one output, a list of lists, or lists by the outputs' names.
void read_metrics(const Json& json, const Network& network, CompileArgs& args) {
  const std::vector<std::string> names = network.output_names();
  if (json.is_object() && !is_object(json)) {
    for (const std::string& name : names) {
      const Json* of_output = find(json, name);
      args.metrics_per_output.list.push_back(of_output ? read_list(*of_output) : std::vector<Metric>());
    }
  } else if (json.is_array() && (names.size() > 1 || (!json.empty() && json[0].is_array()))) {
    for (const Json& part : json) args.metrics_per_output.list.push_back(read_list(part));
    if (names.size() == 1 && args.metrics_per_output.list.size() == 1) {
      args.metrics = std::move(args.metrics_per_output.list[0]);
      args.metrics_per_output.list.clear();
    }
  } else {
    args.metrics = read_list(json);
  }
}

void read_loss_weights(const Json& json, const Network& network, CompileArgs& args) {
  const auto add = [&](const Json& n) { args.loss_weights.list.push_back(n.is_number() ? n.get<double>() : 1.0); };
  if (json.is_number())
    add(json);
  else if (json.is_array()) {
    for (const Json& n : json) add(n);
  } else if (json.is_object()) {
    for (const std::string& name : network.output_names())
      add(find(json, name) ? *find(json, name) : Json(1.0));
  }
}

template <class T>
Json objects_to_json(const std::vector<T>& list) {
  Json json = Json::array();
  for (const T& object : list) json.push_back(object ? object_to_json(*object) : Json());
  return json;
}

}  // namespace

CompileArgs compile_args_from_json(const Json& json, const Network& network) {
  CompileArgs args;
  if (const Json* optimizer = find(json, "optimizer"))
    args.optimizer = read_object<OptimizerBase>(*optimizer);
  if (const Json* loss = find(json, "loss")) args.loss = read_losses(*loss);
  if (const Json* weights = find(json, "loss_weights")) read_loss_weights(*weights, network, args);
  if (const Json* metrics = find(json, "metrics")) read_metrics(*metrics, network, args);
  if (const Json* metrics = find(json, "weighted_metrics")) args.weighted_metrics = read_list(*metrics);
  return args;
}

Json compile_args_to_json(const CompileArgs& args) {
  Json loss;
  if (args.loss.list.size() == 1)
    loss = args.loss.list[0] ? object_to_json(*args.loss.list[0]) : Json();
  else if (!args.loss.list.empty())
    loss = objects_to_json(args.loss.list);
  for (const auto& [name, one] : args.loss.by_name) loss[name] = one ? object_to_json(*one) : Json();
  Json metrics;
  if (!args.metrics.empty()) metrics = objects_to_json(args.metrics);
  for (const std::vector<Metric>& of_output : args.metrics_per_output.list)
    metrics.push_back(objects_to_json(of_output));
  for (const auto& [name, of_output] : args.metrics_per_output.by_name) metrics[name] = objects_to_json(of_output);
  Json loss_weights;
  if (!args.loss_weights.list.empty()) loss_weights = args.loss_weights.list;
  for (const auto& [name, weight] : args.loss_weights.by_name) loss_weights[name] = weight;
  return {
      {"optimizer", object_to_json(*args.optimizer)},
      {"loss", std::move(loss)},
      {"loss_weights", std::move(loss_weights)},
      {"metrics", std::move(metrics)},
      {"weighted_metrics", args.weighted_metrics.empty() ? Json() : objects_to_json(args.weighted_metrics)},
      {"run_eagerly", false},
      {"steps_per_execution", 1},
      {"jit_compile", false}};
}

}  // namespace plimsoll::keras_io
