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

std::string place_in_file(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return concat("line ", mark.line + 1, ", column ", mark.column + 1, ": ");
}

[[noreturn]] void bad(const std::string& place, const YAML::Mark& mark, const std::string& what) {
  fail(ErrorKind::bad_file, place, place_in_file(mark), what);
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
    if (node.Scalar().starts_with('('))
      bad(place_, node.Mark(), "expected a list such as [3, 3], got " + node.Scalar());
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
  if (node.size() != 1) return false;
  const std::string key = node.begin()->first.as<std::string>();  // arguments are written small
  return !key.empty() && key[0] >= 'A' && key[0] <= 'Z';
}

// "kernel_regularizer: {L2: 0.01}" is {class_name: L2, config: {l2: 0.01}}.
void spell_out(const std::string& argument, Json& value) {
  constexpr std::pair<std::string_view, Family> kEnds[] = {{"_regularizer", Family::regularizer},
                                                           {"_initializer", Family::initializer},
                                                           {"_constraint", Family::constraint}};
  if (!value.is_object() || value.size() != 1 || value.contains("class_name")) return;
  for (const auto& [end, family] : kEnds) {
    if (!argument.ends_with(end)) continue;
    const std::string name = value.begin().key();
    const std::string first = first_argument(family, name);
    Json given = value.begin().value();
    if (given.is_null()) given = Json::object();
    if (!given.is_object()) given = Json{{first, std::move(given)}};
    value = {{"class_name", name}, {"config", std::move(given)}};
    return;
  }
}

Json read_layer(const YAML::Node& item, Values& values);

// What is wrong about a layer is said with its place.
Json layer_of(const YAML::Node& item, Values& values) {
  try {
    return read_layer(item, values);
  } catch (const Error& e) {
    const std::string_view said = e.what();
    if (said.starts_with(concat("[", values.place(), "]"))) throw;
    throw Error(e.kind(), values.place(), concat(place_in_file(item.Mark()), said));
  }
}

Json read_layer(const YAML::Node& item, Values& values) {
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
      spell_out(key, config[key]);
    }
  } else {
    if (first.empty()) bad(values.place(), item.Mark(), name + " takes no argument");
    config = Json{{first, config}};
  }
  return layer_json(name, std::move(config), item, values);
}

// 'input: [28, 28, 1]' at the top, or the layer 'Input: [28, 28, 1]' or 'Input: {shape: [28], dtype: int32}'.
Json input_layer(const YAML::Node& input, Values& values) {
  Json given = values.of(input);
  Json config = Json::object();
  if (given.is_object()) {
    for (const auto& [name, value] : given.items()) {
      if (name != "shape" && name != "dtype" && name != "name")
        bad(values.place(), input.Mark(),
            "expected sizes, or shape, dtype and name of the input, got '" + name + "'");
      if (name != "shape") config[name] = value;
    }
    given = given.contains("shape") ? Json(given["shape"]) : Json();
  }
  if (!given.is_array()) given = Json::array({given});
  Json shape = Json::array({nullptr});
  for (const Json& size : given) {
    const bool open = size.is_null() || size == "None";
    if (!open && !(size.is_number_integer() && size >= 0))
      bad(values.place(), input.Mark(),
          "expected the sizes of one record, such as [28, 28, 1], got " + size.dump() +
              "; a size that is not known is null");
    shape.push_back(open ? Json() : size);
  }
  config["batch_shape"] = std::move(shape);
  if (!config.contains("dtype")) config["dtype"] = "float32";
  return {{"class_name", "InputLayer"}, {"config", std::move(config)}};
}

// The input, if the list of layers begins with one.
YAML::Node input_among(const YAML::Node& layers) {
  if (layers.size() == 0 || !layers[0].IsMap() || layers[0].size() != 1) return YAML::Node();
  const std::string name = layers[0].begin()->first.as<std::string>();
  return name == "Input" || name == "InputLayer" ? layers[0].begin()->second : YAML::Node();
}

YAML::Node read_root(const std::string& text, const std::string& place) {
  const std::vector<YAML::Node> all = YAML::LoadAll(text);
  if (all.size() > 1) bad(place, all[1].Mark(), "expected one model in a file, got another one behind '---'");
  const YAML::Node root = all.empty() ? YAML::Node() : all[0];
  if (!root.IsMap() || !root["layers"] || !root["layers"].IsSequence())
    bad(place, root.Mark(),
        "expected a map with 'layers', a list, such as: {input: [4], layers: [{Dense: 1}]}");
  for (const auto& pair : root) {
    const std::string key = pair.first.as<std::string>();
    if (key == "layers" || key == "input" || key == "name") continue;
    bad(place, pair.first.Mark(),
        "there is no '" + key +
            "' here; there are: input, layers, name. How it is trained is said on the "
            "command line: --optimizer, --loss, --metrics");
  }
  if (root["layers"].size() == 0) bad(place, root["layers"].Mark(), "expected layers, got none");
  return root;
}

// Of a model that cannot be made, the layer at which it fails: the last of the shortest chain that does.
YAML::Mark failing_layer(const Json& model, const YAML::Node& layers) {
  const Json& all = model["config"]["layers"];
  const auto fails = [&](size_t count) {
    Json part = model;
    part["config"]["layers"] =
        Json(std::vector<Json>(all.begin(), all.begin() + static_cast<int64_t>(count)));
    try {
      model_from_json(part.dump());
      return false;
    } catch (const Error&) {
      return true;
    }
  };
  size_t works = 0, does_not = all.size();
  while (does_not - works > 1) {
    const size_t middle = works + (does_not - works) / 2;
    (fails(middle) ? does_not : works) = middle;
  }
  const size_t above = all.size() - layers.size();  // the input, if it is no layer of the list
  return does_not <= above ? YAML::Mark::null_mark() : layers[does_not - 1 - above].Mark();
}

Json model_json(const YAML::Node& root, const std::string& place) {
  Values values(place);
  Json layers = Json::array();
  const YAML::Node first = input_among(root["layers"]);
  if (root["input"]) layers.push_back(input_layer(root["input"], values));
  if (!first.IsNull()) {
    if (root["input"]) bad(place, root["layers"][0].Mark(), "the input is given twice: at the top, and here");
    layers.push_back(input_layer(first, values));
  }
  for (size_t i = first.IsNull() ? 0 : 1; i < root["layers"].size(); ++i)
    layers.push_back(layer_of(root["layers"][i], values));
  const std::string name = root["name"] ? root["name"].as<std::string>() : "sequential";
  return {{"class_name", "Sequential"}, {"config", {{"name", name}, {"layers", layers}}}};
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
  return model_json(read_root(text, place), place).dump();
} catch (const YAML::Exception& e) {
  const bool has_tab = text.starts_with('\t') || text.find("\n\t") != std::string::npos ||
                       text.find(" \t") != std::string::npos;
  bad(place, e.mark, e.msg + (has_tab ? "; YAML is indented with spaces, and this file has tabs" : ""));
} catch (const Json::type_error&) {
  fail(ErrorKind::bad_file, place, "expected a text in UTF-8");
}

Model open_model(const std::filesystem::path& path) {
  const std::string suffix = path.extension().string();
  if (suffix != ".yaml" && suffix != ".yml") return load_model(path);
  const std::string text = read_text(path), json = json_of_yaml(text, path.string());
  try {
    return model_from_json(json);
  } catch (const Error& e) {  // it knows of no file
    std::string_view said = e.what();
    for (const std::string_view place : {"[model_from_json] ", "[] "}) {
      if (said.starts_with(place)) said.remove_prefix(place.size());
    }
    if (e.kind() == ErrorKind::out_of_memory) throw Error(e.kind(), path.string(), said);
    const YAML::Mark mark = failing_layer(Json::parse(json), read_root(text, path.string())["layers"]);
    throw Error(e.kind(), path.string(), concat(place_in_file(mark), said));
  }
}

}  // namespace plimsoll::cli
