#include "keras_io/upgrade_function.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "layers/base/json_parts.h"
#include "layers/base/operation.h"

namespace plimsoll::keras_io {
namespace {

// TensorFlow's name of an argument, and Keras's.
using Arguments = std::vector<std::pair<std::string, std::string>>;

struct Counterpart {
  std::string class_name;             // of keras.ops
  std::vector<std::string> operands;  // TensorFlow's names of those after the first
  Arguments options;
  Json defaults = Json::object();  // where TensorFlow's are not Keras's
};
using Counterparts = std::map<std::string, Counterpart, std::less<>>;

void add_elementwise(Counterparts& all) {
  const std::map<std::string, std::string, std::less<>> binary = {{"__operators__.add", "Add"},
                                                                  {"math.add", "Add"},
                                                                  {"__operators__.sub", "Subtract"},
                                                                  {"math.subtract", "Subtract"},
                                                                  {"__operators__.mul", "Multiply"},
                                                                  {"math.multiply", "Multiply"},
                                                                  {"__operators__.truediv", "TrueDivide"},
                                                                  {"math.truediv", "TrueDivide"},
                                                                  {"math.divide", "TrueDivide"},
                                                                  {"math.divide_no_nan", "DivideNoNan"},
                                                                  {"math.floordiv", "FloorDivide"},
                                                                  {"math.floormod", "Mod"},
                                                                  {"__operators__.pow", "Power"},
                                                                  {"math.pow", "Power"},
                                                                  {"math.maximum", "Maximum"},
                                                                  {"math.minimum", "Minimum"},
                                                                  {"math.atan2", "Arctan2"},
                                                                  {"math.equal", "Equal"},
                                                                  {"__operators__.eq", "Equal"},
                                                                  {"math.not_equal", "NotEqual"},
                                                                  {"__operators__.ne", "NotEqual"},
                                                                  {"math.less", "Less"},
                                                                  {"math.less_equal", "LessEqual"},
                                                                  {"math.greater", "Greater"},
                                                                  {"math.greater_equal", "GreaterEqual"},
                                                                  {"math.logical_and", "LogicalAnd"},
                                                                  {"math.logical_or", "LogicalOr"},
                                                                  {"math.logical_xor", "LogicalXor"}};
  for (const auto& [name, class_name] : binary) all[name] = {class_name, {"y"}, {}};
  const std::map<std::string, std::string, std::less<>> unary = {{"__operators__.neg", "Negative"},
                                                                 {"math.negative", "Negative"},
                                                                 {"math.abs", "Absolute"},
                                                                 {"math.sign", "Sign"},
                                                                 {"math.square", "Square"},
                                                                 {"math.sqrt", "Sqrt"},
                                                                 {"math.exp", "Exp"},
                                                                 {"math.expm1", "Expm1"},
                                                                 {"math.log", "Log"},
                                                                 {"math.log1p", "Log1p"},
                                                                 {"math.sin", "Sin"},
                                                                 {"math.cos", "Cos"},
                                                                 {"math.tan", "Tan"},
                                                                 {"math.asin", "Arcsin"},
                                                                 {"math.acos", "Arccos"},
                                                                 {"math.atan", "Arctan"},
                                                                 {"math.sinh", "Sinh"},
                                                                 {"math.cosh", "Cosh"},
                                                                 {"math.tanh", "Tanh"},
                                                                 {"nn.tanh", "Tanh"},
                                                                 {"math.floor", "Floor"},
                                                                 {"math.ceil", "Ceil"},
                                                                 {"math.reciprocal", "Reciprocal"},
                                                                 {"math.is_nan", "Isnan"},
                                                                 {"math.is_finite", "Isfinite"},
                                                                 {"math.logical_not", "LogicalNot"},
                                                                 {"identity", "Copy"}};
  for (const auto& [name, class_name] : unary) all[name] = {class_name, {}, {}};
  all["math.rsqrt"] = {"Rsqrt", {}, {}};
  all["math.erf"] = {"Erf", {}, {}};
  all["stop_gradient"] = {"StopGradient", {}, {}};
  all["where"] = {"Where", {"x", "y"}, {}};
  all["clip_by_value"] = {"Clip", {}, {{"clip_value_min", "x_min"}, {"clip_value_max", "x_max"}}};
  all["cast"] = {"Cast", {}, {{"dtype", "dtype"}}};
  for (const char* name : {"zeros_like", "ones_like"}) {
    all[name] = {name[0] == 'z' ? "ZerosLike" : "OnesLike", {}, {{"dtype", "dtype"}}};
  }
}

void add_activations(Counterparts& all) {
  const std::map<std::string, std::string, std::less<>> plain = {
      {"sigmoid", "Sigmoid"}, {"relu", "Relu"},         {"relu6", "Relu6"},      {"elu", "Elu"},
      {"selu", "Selu"},       {"softplus", "Softplus"}, {"softsign", "Softsign"}};
  const Arguments axis = {{"axis", "axis"}};
  for (const std::string module : {"nn.", "math."}) {  // TensorFlow has most of them in both
    for (const auto& [name, class_name] : plain) all[module + name] = {class_name, {}, {}};
    all[module + "softmax"] = {"Softmax", {}, axis};
    all[module + "log_softmax"] = {"LogSoftmax", {}, axis};
    all[module + "l2_normalize"] = {
        "Normalize", {}, {{"axis", "axis"}, {"epsilon", "epsilon"}}, {{"epsilon", 1e-12}}};
    all[module + "top_k"] = {"TopK", {}, {{"k", "k"}, {"sorted", "sorted"}}, {{"k", 1}}};
  }
  for (const char* name : {"nn.silu", "nn.swish"}) all[name] = {"Silu", {}, {}};
  all["nn.leaky_relu"] = {"LeakyRelu", {}, {{"alpha", "negative_slope"}}, {{"negative_slope", 0.2}}};
  all["nn.gelu"] = {"Gelu", {}, {{"approximate", "approximate"}}, {{"approximate", false}}};
}

void add_reductions(Counterparts& all) {
  const std::map<std::string, std::string, std::less<>> reductions = {
      {"mean", "Mean"}, {"sum", "Sum"}, {"max", "Max"}, {"min", "Min"},      {"prod", "Prod"},
      {"any", "Any"},   {"all", "All"}, {"std", "Std"}, {"variance", "Var"}, {"logsumexp", "Logsumexp"}};
  const Arguments axis = {{"axis", "axis"}}, axes = {{"axis", "axis"}, {"keepdims", "keepdims"}};
  for (const auto& [name, class_name] : reductions) all["math.reduce_" + name] = {class_name, {}, axes};
  for (const char* name : {"argmax", "argmin"}) {
    const std::string class_name = name == std::string("argmax") ? "Argmax" : "Argmin";
    for (const std::string module : {"", "math."}) all[module + name] = {class_name, {}, axis, {{"axis", 0}}};
  }
  all["math.cumsum"] = {"Cumsum", {}, axis, {{"axis", 0}}};
  all["math.cumprod"] = {"Cumprod", {}, axis, {{"axis", 0}}};
  all["linalg.matmul"] = {"Matmul", {"b"}, {{"transpose_a", "transpose_a"}, {"transpose_b", "transpose_b"}}};
  all["tensordot"] = {"Tensordot", {"b"}, {{"axes", "axes"}}};
}

void add_layouts(Counterparts& all) {
  const Arguments axis = {{"axis", "axis"}};
  all["__operators__.getitem"] = {"GetItem", {"slice_spec"}, {}};
  all["expand_dims"] = {"ExpandDims", {}, axis};
  all["squeeze"] = {"Squeeze", {}, {{"axis", "axis"}, {"squeeze_dims", "axis"}}};
  all["reshape"] = {"Reshape", {}, {{"shape", "newshape"}}};
  all["transpose"] = {"Transpose", {}, {{"perm", "axes"}}};
  all["concat"] = {"Concatenate", {}, axis};
  all["stack"] = {"Stack", {}, axis};
  all["unstack"] = {"Unstack", {}, {{"num", "num"}, {"axis", "axis"}}};
  all["split"] = {
      "Split", {}, {{"num_or_size_splits", "indices_or_sections"}, {"axis", "axis"}}, {{"axis", 0}}};
  all["tile"] = {"Tile", {}, {{"multiples", "repeats"}}};
  all["repeat"] = {"Repeat", {}, {{"repeats", "repeats"}, {"axis", "axis"}}};
  all["reverse"] = {"Flip", {}, axis};
  all["roll"] = {"Roll", {}, {{"shift", "shift"}, {"axis", "axis"}}};
  all["gather"] = {"Take", {"indices"}, axis, {{"axis", 0}}};
  all["pad"] = {
      "Pad", {}, {{"paddings", "pad_width"}, {"mode", "mode"}, {"constant_values", "constant_values"}}};
  all["one_hot"] = {"OneHot", {}, {{"depth", "num_classes"}, {"axis", "axis"}, {"dtype", "dtype"}}};
  all["image.resize"] = {
      "Resize", {}, {{"size", "size"}, {"method", "interpolation"}, {"antialias", "antialias"}}};
  for (const char* name : {"depth_to_space", "space_to_depth"}) {
    all[std::string("nn.") + name] = {
        name[0] == 'd' ? "DepthToSpace" : "SpaceToDepth", {}, {{"block_size", "block_size"}}};
  }
}

const Counterparts& counterparts() {
  static const Counterparts all = [] {
    Counterparts made;
    add_elementwise(made);
    add_activations(made);
    add_reductions(made);
    add_layouts(made);
    return made;
  }();
  return all;
}

const Counterpart* counterpart_of(std::string_view function) {
  constexpr std::string_view kOld = "compat.v1.";
  if (function.starts_with(kOld)) function.remove_prefix(kOld.size());
  const auto found = counterparts().find(function);
  return found == counterparts().end() ? nullptr : &found->second;
}

// An argument that changes nothing: one not given, or what TensorFlow takes where it is not.
bool says_nothing(const std::string& name, const Json& value) {
  if (value.is_null() || (value.is_boolean() && !value.get<bool>())) return true;
  if (name == "data_format") return value == "NHWC";
  if (name == "batch_dims" || name == "constant_values") return value == 0;
  return name == "name" || name == "out_type" || name == "output_type" || name == "validate_shape" ||
         name == "optimize" || (name == "on_value" && value == 1) || (name == "off_value" && value == 0);
}

Json tensor(const Json& reference) {
  return {{"class_name", "__keras_tensor__"},
          {"config", {{"keras_history", {reference[0], reference[1], reference[2]}}}}};
}

// ["_CONSTANT_VALUE", -1, value] or with {...} behind, in place of a reference.
bool is_constant(const Json& json) {
  return json.is_array() && (json.size() == 3 || json.size() == 4) && json[0] == "_CONSTANT_VALUE" &&
         json[1] == -1;
}

// References to layers, anywhere in arguments, become tensors.
Json with_tensors(const Json& json) {
  if (is_reference(json)) return tensor(json);
  if (!json.is_structured()) return json;
  Json copy = json;
  for (Json& part : copy) part = with_tensors(part);
  return copy;
}

// Slices as TFOpLambda writes them: {"start": 0, "stop": null, "step": null}.
Json upgrade_key(const Json& key) {
  if (key.is_array()) {
    Json list = Json::array();
    for (const Json& part : key) list.push_back(upgrade_key(part));
    return list;
  }
  if (key.is_object() && key.contains("start")) return {{"class_name", "__slice__"}, {"config", key}};
  if (key.is_string() && key == "__ellipsis__")
    return {{"class_name", "__ellipsis__"}, {"config", Json::object()}};
  return key;
}

const std::string* option_of(const Counterpart& c, const std::string& name) {
  for (const auto& [theirs, ours] : c.options) {
    if (theirs == name) return &ours;
  }
  return nullptr;
}

class Call {
 public:
  Call(const Counterpart& c, std::string function, std::string layer)
      : c_(c), function_(std::move(function)), layer_(std::move(layer)) {}

  // Tensors stay with the call, options go to the config, where Keras 3 keeps them, for all calls.
  void read(Json& node, Json& config) {
    Json own = {{"name", layer_}};
    read_call(node, own);
    if (config.size() > 1 && config != own) refuse("twice, with other arguments");
    config = std::move(own);
  }
  const std::string& class_name() const { return class_name_; }

 private:
  void read_call(Json& node, Json& config) {
    if (!node.is_object() || !find(node, "kwargs") || !find(node, "args") || !node["args"].is_array()) return;
    Json& args = node["args"];
    const Json kwargs = node["kwargs"];
    for (const std::string& name : c_.operands) {
      const Json* given = find(kwargs, name);
      if (!given) refuse("without its argument '" + name + "'");
      args.push_back(name == "slice_spec" ? upgrade_key(*given) : *given);
    }
    node["kwargs"] = Json::object();
    for (const auto& [name, value] : c_.defaults.items()) config[name] = value;
    for (const auto& [name, value] : kwargs.items()) {
      if (std::find(c_.operands.begin(), c_.operands.end(), name) != c_.operands.end()) continue;
      const std::string* option = option_of(c_, name);
      if (option && *option == "constant_values" && !says_nothing(name, value))
        node["kwargs"][*option] = value;  // Keras's one option that is no part of the config
      else if (option && !value.is_null() && *option != "constant_values")
        config[*option] = value;
      else if (!option && !says_nothing(name, value))
        refuse("with the argument '" + name + "', which is not known here");
    }
    adapt(config);
  }

  [[noreturn]] void refuse(const std::string& how) const {
    fail(ErrorKind::unsupported, layer_, "calls TensorFlow's ", function_, " ", how,
         ". Save the model with a layer or keras.ops in its place, or cut the model before it");
  }

  // Where the values mean something else.
  void adapt(Json& config) {
    if (class_name_ == "Normalize" && config["epsilon"].is_number()) {  // of the square, not of the length
      if (!find(config, "axis")) refuse("over all axes at once");
      config["epsilon"] = std::sqrt(std::max(0.0, config["epsilon"].get<double>()));
    }
    if (class_name_ == "Pad" && find(config, "mode") && config["mode"].is_string()) {
      std::string mode = config["mode"].get<std::string>();
      for (char& c : mode) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
      config["mode"] = mode;
    }
    if (class_name_ == "Split") sizes_to_places(config["indices_or_sections"]);
    if (class_name_ == "Matmul") {
      const auto turned = [&](const char* name) {
        const bool yes = config.contains(name) && config[name] == true;
        config.erase(name);
        return yes;
      };
      const bool a = turned("transpose_a"), b = turned("transpose_b");
      if (!a && !b) return;
      class_name_ = "Einsum";
      config["subscripts"] = std::string(a ? "...ji" : "...ij") + (b ? ",...kj" : ",...jk") + "->...ik";
    }
  }
  // [2, 3, 1] is split at [2, 5].
  static void sizes_to_places(Json& sections) {
    if (!sections.is_array()) return;
    Json places = Json::array();
    int64_t at = 0;
    for (size_t i = 0; i + 1 < sections.size(); ++i) {
      const std::optional<int64_t> size = int64_of(sections[i]);
      if (!size || *size < 0 || *size > (int64_t{1} << 40)) return;
      places.push_back(at += *size);
    }
    sections = std::move(places);
  }

  const Counterpart& c_;
  const std::string function_, layer_;
  std::string class_name_ = c_.class_name;
};

}  // namespace

bool is_reference(const Json& json) {
  return json.is_array() && (json.size() == 3 || json.size() == 4) && json[0].is_string() &&
         json[1].is_number_integer() && json[2].is_number_integer() && !is_constant(json);
}

// [["dense", 0, 0, {...}], ...] or ["dense", 0, 0, {...}].
Json upgrade_node(const Json& node) {
  if (!node.is_array()) return node;  // Keras 3's
  const Json list = is_reference(node) || is_constant(node) ? Json::array({node}) : node;
  Json tensors = Json::array(), kwargs = Json::object();
  for (const Json& part : list) {
    if (is_constant(part))
      tensors.push_back(part[2]);
    else if (is_reference(part))
      tensors.push_back(tensor(part));
    else
      continue;
    if (part.size() == 4 && part[3].is_object()) {
      for (const auto& [name, value] : part[3].items()) kwargs[name] = with_tensors(value);
    }
  }
  return {{"args", Json::array({tensors.size() == 1 ? Json(tensors[0]) : tensors})},
          {"kwargs", std::move(kwargs)}};
}

void upgrade_function(Json& layer) {
  const std::string name = text_of(layer["config"], "name");
  const bool slices = text_of(layer, "class_name") == "SlicingOpLambda";
  const std::string function = slices ? "__operators__.getitem" : text_of(layer["config"], "function");
  const Counterpart* const known = counterpart_of(function);
  if (!known) {
    fail(ErrorKind::unsupported, name, "calls TensorFlow's ", function,
         ", which is not known here. Save the model with a layer or keras.ops in its place, or cut the model "
         "before it");
  }
  Call call(*known, function, name);
  Json config = {{"name", name}};
  if (layer.contains("inbound_nodes") && layer["inbound_nodes"].is_array()) {
    for (Json& node : layer["inbound_nodes"]) {
      node = upgrade_node(node);
      call.read(node, config);
    }
  }
  layer["module"] = module_of_operation(call.class_name());
  layer["class_name"] = call.class_name();
  layer["config"] = std::move(config);
  layer["registered_name"] = call.class_name();
}

}  // namespace plimsoll::keras_io
