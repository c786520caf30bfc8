#include "model_source.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include "common/json.h"
#include <sstream>

#include "plimsoll/error.h"

namespace plimsoll::cli {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void bad(const std::string& place, const YAML::Mark& mark, const std::string& what) {
  fail(ErrorKind::bad_file, place, "line ", mark.line + 1, ", column ", mark.column + 1, ": ", what);
}

// YAML has no types of its own for plain words: what reads as a number or a truth value is one.
class Values {
 public:
  explicit Values(const std::string& place) : place_(place) {}
  const std::string& place() const { return place_; }

  Json of(const YAML::Node& node, int depth = 0) {
    if (depth > 32) bad(place_, node.Mark(), "lists and maps inside each other are too deep");
    // An alias stands for all that it names: a few lines of them can mean any number of values.
    if (--left_ < 0) bad(place_, node.Mark(), "more values than a model has");
    if (node.IsNull()) return nullptr;
    if (node.IsSequence()) {
      Json list = Json::array();
      for (const YAML::Node& item : node) list.push_back(of(item, depth + 1));
      return list;
    }
    if (node.IsMap()) {
      Json map = Json::object();
      for (const auto& pair : node) {
        const std::string key = pair.first.as<std::string>();
        if (map.contains(key)) bad(place_, pair.first.Mark(), "'" + key + "' is given twice");
        map[key] = of(pair.second, depth + 1);
      }
      return map;
    }
    if (node.Tag() == "!") return node.as<std::string>();  // quoted
    int64_t integer = 0;
    if (YAML::convert<int64_t>::decode(node, integer)) return integer;
    double real = 0;
    if (YAML::convert<double>::decode(node, real)) {
      if (!std::isfinite(real)) bad(place_, node.Mark(), "expected a finite number, got " + node.Scalar());
      return real;
    }
    bool flag = false;
    if (YAML::convert<bool>::decode(node, flag)) return flag;
    return node.as<std::string>();
  }

 private:
  const std::string& place_;
  int64_t left_ = 100'000;
};

// What marks a config as one of Keras 3: in one without, arguments of older versions would be looked for.
Json policy(const Json& dtype) {
  if (dtype.is_object()) return dtype;
  return {{"class_name", "DTypePolicy"}, {"config", {{"name", dtype}}}};
}

Json layer_json(const std::string& class_name, Json config, const YAML::Node& item, Values& values) {
  for (const std::string& name : required_arguments(Family::layer, class_name)) {
    if (config.contains(name)) continue;
    bad(values.place(), item.Mark(),
        "expected the argument '" + name + "' of " + class_name + ", which has no default");
  }
  config["dtype"] = policy(config.contains("dtype") ? config["dtype"] : Json(global_dtype_policy()));
  return {{"class_name", class_name}, {"config", std::move(config)}};
}

Json layer_of(const YAML::Node& item, Values& values);

// Arguments that hold layers: a wrapper's own, the cells of an RNN.
bool holds_layers(const std::string& argument) {
  return argument == "layer" || argument == "backward_layer" || argument == "cell" || argument == "cells";
}
Json inner_layers(const YAML::Node& node, Values& values) {
  if (!node.IsSequence()) return layer_of(node, values);
  Json list = Json::array();
  for (const YAML::Node& one : node) list.push_back(layer_of(one, values));
  return list;
}
// "Bidirectional: {LSTM: 6}", "TimeDistributed: Flatten", "StackedRNNCells: [{LSTMCell: 4}, {GRUCell: 3}]".
bool is_inner_alone(const YAML::Node& node, const std::string& first) {
  if (!holds_layers(first) || node.IsNull()) return false;
  if (!node.IsMap()) return true;
  const std::vector<std::string> known = object_names(Family::layer);
  return node.size() == 1 &&
         std::find(known.begin(), known.end(), node.begin()->first.as<std::string>()) != known.end();
}

Json layer_of(const YAML::Node& item, Values& values) {
  if (item.IsScalar()) return layer_json(item.as<std::string>(), Json::object(), item, values);
  if (item.IsMap() && item["class_name"]) return values.of(item);  // as Keras's configs have it
  if (!item.IsMap() || item.size() != 1)
    bad(values.place(), item.Mark(), "expected a layer, such as 'Dense: {units: 10}'");
  const auto pair = *item.begin();
  const std::string name = pair.first.as<std::string>();
  Json config = values.of(pair.second);  // all of it, which bounds how deep and how much there is
  if (config.is_null()) config = Json::object();
  const std::string first = first_argument(Family::layer, name);
  if (is_inner_alone(pair.second, first)) {
    config = Json{{first, inner_layers(pair.second, values)}};
  } else if (config.is_object()) {
    for (const auto& argument : pair.second) {
      const std::string key = argument.first.as<std::string>();
      if (holds_layers(key) && !argument.second.IsNull()) config[key] = inner_layers(argument.second, values);
    }
  } else {
    if (first.empty()) bad(values.place(), item.Mark(), name + " takes no argument");
    config = Json{{first, config}};
  }
  return layer_json(name, std::move(config), item, values);
}

Json input_layer(const YAML::Node& input, Values& values) {
  const Json sizes = values.of(input);
  Json shape = Json::array({nullptr});
  if (sizes.is_array())
    shape.insert(shape.end(), sizes.begin(), sizes.end());
  else
    shape.push_back(sizes);
  return {{"class_name", "InputLayer"}, {"config", {{"batch_shape", shape}, {"dtype", "float32"}}}};
}

std::string read_text(const std::filesystem::path& path) {
  constexpr uintmax_t kMost = 64 << 20;
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (error) fail(ErrorKind::not_found, path.string(), "cannot be read: ", error.message());
  if (size > kMost)
    fail(ErrorKind::bad_file, path.string(), "is too large for a description of a model (", size, " bytes)");
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) fail(ErrorKind::io, path.string(), "could not be read to its end");
  return text.str();
}

}  // namespace

std::string json_of_yaml(const std::string& text, const std::string& place) try {
  const YAML::Node root = YAML::Load(text);
  if (!root.IsMap() || !root["layers"] || !root["layers"].IsSequence()) {
    bad(place, root.Mark(), "expected a map with 'layers', a list");
  }
  for (const auto& pair : root) {
    const std::string key = pair.first.as<std::string>();
    if (key != "layers" && key != "input" && key != "name")
      bad(place, pair.first.Mark(), "there is no '" + key + "' here");
  }
  Values values(place);
  Json layers = Json::array();
  if (root["input"]) layers.push_back(input_layer(root["input"], values));
  for (const YAML::Node& item : root["layers"]) layers.push_back(layer_of(item, values));
  const std::string name = root["name"] ? root["name"].as<std::string>() : "sequential";
  return Json{{"class_name", "Sequential"}, {"config", {{"name", name}, {"layers", layers}}}}.dump();
} catch (const YAML::Exception& e) {
  bad(place, e.mark, e.msg);
} catch (const Json::type_error&) {
  fail(ErrorKind::bad_file, place, "expected a text in UTF-8");
}

Model open_model(const std::filesystem::path& path) {
  const std::string suffix = path.extension().string();
  if (suffix != ".yaml" && suffix != ".yml") return load_model(path);
  const std::string json = json_of_yaml(read_text(path), path.string());
  try {
    return model_from_json(json);
  } catch (const Error& e) {  // it knows of no file
    constexpr std::string_view kPlace = "[model_from_json] ";
    std::string_view said = e.what();
    if (said.starts_with(kPlace)) said.remove_prefix(kPlace.size());
    throw Error(e.kind(), path.string(), said);
  }
}

}  // namespace plimsoll::cli
