#include "keras_io/compile_config.h"

#include <algorithm>

#include "common/log.h"
#include "keras_io/json.h"
#include "layers/base/json_parts.h"
#include "layers/base/config_json.h"
#include "plimsoll/error.h"

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

// A metric that is not here changes nothing of the training: it is left out with a word.
void add_metric(const Json& json, std::string_view place, std::vector<Metric>& list) {
  try {
    list.push_back(read_object<MetricBase>(json));
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::bad_file || e.kind() == ErrorKind::out_of_memory) throw;
    warn(place, "a metric that the model was compiled with is left out: ", e.what());
  }
}

std::vector<Metric> read_list(const Json& json, std::string_view place) {
  std::vector<Metric> list;
  if (is_object(json))
    add_metric(json, place, list);
  else if (json.is_array()) {
    for (const Json& part : json) {
      if (is_object(part)) add_metric(part, place, list);
    }
  }
  return list;
}

// A list for every output, a list of lists, or lists by the outputs' names.
void read_metrics(const Json& json, std::string_view place, std::vector<Metric>& for_all,
                  PerOutput<std::vector<Metric>>& per_output) {
  if (json.is_object() && !is_object(json)) {
    for (const auto& [name, of_output] : json.items())
      per_output.by_name.emplace(name, read_list(of_output, place));
  } else if (json.is_array() &&
             std::any_of(json.begin(), json.end(), [](const Json& j) { return j.is_array(); })) {
    for (const Json& of_output : json) per_output.list.push_back(read_list(of_output, place));
  } else {
    for_all = read_list(json, place);
  }
}

PerOutput<double> read_loss_weights(const Json& json) {
  const auto weight = [](const Json& n) { return n.is_number() ? n.get<double>() : 1.0; };
  PerOutput<double> weights;
  if (json.is_number())
    weights.list.push_back(weight(json));
  else if (json.is_array()) {
    for (const Json& n : json) weights.list.push_back(weight(n));
  } else if (json.is_object()) {
    for (const auto& [name, n] : json.items()) weights.by_name.emplace(name, weight(n));
  }
  return weights;
}

// "accuracy" is no class: Keras finds out what it means when it sees the loss and the shapes.
Json object_or_word(Configurable& object) {
  const std::string_view name = object.class_name();
  const bool is_word = !name.empty() && name[0] >= 'a' && name[0] <= 'z';
  return is_word ? Json(std::string(name)) : object_to_json(object);
}

template <class T>
Json objects_to_json(const std::vector<T>& list) {
  Json json = Json::array();
  for (const T& object : list) json.push_back(object ? object_or_word(*object) : Json());
  return json;
}

Json metrics_to_json(const std::vector<Metric>& for_all, const PerOutput<std::vector<Metric>>& per_output) {
  Json json;
  if (!for_all.empty()) json = objects_to_json(for_all);
  for (const std::vector<Metric>& of_output : per_output.list) json.push_back(objects_to_json(of_output));
  for (const auto& [name, of_output] : per_output.by_name) json[name] = objects_to_json(of_output);
  return json;
}

Json weights_to_json(const PerOutput<double>& weights) {
  Json json;
  for (const double w : weights.list) json.push_back(w);
  for (const auto& [name, w] : weights.by_name) json[name] = w;
  return json;
}

}  // namespace

CompileArgs compile_args_from_json(const Json& json, std::string_view place) {
  CompileArgs args;
  if (const Json* optimizer = find(json, "optimizer"))
    args.optimizer = read_object<OptimizerBase>(*optimizer);
  if (const Json* loss = find(json, "loss")) args.loss = read_losses(*loss);
  if (const Json* weights = find(json, "loss_weights")) args.loss_weights = read_loss_weights(*weights);
  if (const Json* metrics = find(json, "metrics"))
    read_metrics(*metrics, place, args.metrics, args.metrics_per_output);
  if (const Json* metrics = find(json, "weighted_metrics")) {
    read_metrics(*metrics, place, args.weighted_metrics, args.weighted_metrics_per_output);
  }
  return args;
}

Json compile_args_to_json(const CompileArgs& args) {
  Json loss;
  if (args.loss.list.size() == 1)
    loss = args.loss.list[0] ? object_to_json(*args.loss.list[0]) : Json();
  else if (!args.loss.list.empty())
    loss = objects_to_json(args.loss.list);
  for (const auto& [name, one] : args.loss.by_name) loss[name] = one ? object_to_json(*one) : Json();
  return {{"optimizer", object_to_json(*args.optimizer)},
          {"loss", std::move(loss)},
          {"loss_weights", weights_to_json(args.loss_weights)},
          {"metrics", metrics_to_json(args.metrics, args.metrics_per_output)},
          {"weighted_metrics", metrics_to_json(args.weighted_metrics, args.weighted_metrics_per_output)},
          {"run_eagerly", false},
          {"steps_per_execution", 1},
          {"jit_compile", false}};
}

}  // namespace plimsoll::keras_io
