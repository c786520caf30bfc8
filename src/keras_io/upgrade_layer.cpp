#include "keras_io/upgrade_layer.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "keras_io/json.h"
#include "layers/base/json_parts.h"
#include "keras_io/upgrade.h"
#include "layers/base/config_json.h"
#include "layers/base/operation.h"

namespace plimsoll::keras_io {
namespace {

using Names = std::map<std::string, std::string, std::less<>>;

const Names kClasses = {
    {"Convolution1D", "Conv1D"},
    {"Convolution2D", "Conv2D"},
    {"Convolution3D", "Conv3D"},
    {"AtrousConvolution2D", "Conv2D"},
    {"Deconvolution2D", "Conv2DTranspose"},
    {"Convolution2DTranspose", "Conv2DTranspose"},
    {"SeparableConvolution2D", "SeparableConv2D"},
    {"BatchNormalizationV1", "BatchNormalization"},
    {"BatchNormalizationV2", "BatchNormalization"},
    {"SyncBatchNormalization", "BatchNormalization"},
    {"CuDNNLSTM", "LSTM"},
    {"CuDNNGRU", "GRU"},
    {"LSTMV2", "LSTM"},
    {"GRUV2", "GRU"},
    {"MaxPool2D", "MaxPooling2D"},
    {"AvgPool2D", "AveragePooling2D"},
    {"ThresholdedReLU", "ReLU"},
    {"GroupedQueryAttention", "GroupQueryAttention"},  // the class, and the name Keras exports it by
};

// Keras 1's arguments.
const Names kArguments = {
    {"output_dim", "units"},
    {"nb_filter", "filters"},
    {"border_mode", "padding"},
    {"subsample", "strides"},
    {"subsample_length", "strides"},
    {"filter_length", "kernel_size"},
    {"dim_ordering", "data_format"},
    {"init", "kernel_initializer"},
    {"inner_init", "recurrent_initializer"},
    {"inner_activation", "recurrent_activation"},
    {"W_regularizer", "kernel_regularizer"},
    {"U_regularizer", "recurrent_regularizer"},
    {"b_regularizer", "bias_regularizer"},
    {"W_constraint", "kernel_constraint"},
    {"U_constraint", "recurrent_constraint"},
    {"b_constraint", "bias_constraint"},
    {"bias", "use_bias"},
    {"dropout_W", "dropout"},
    {"dropout_U", "recurrent_dropout"},
    {"atrous_rate", "dilation_rate"},
    {"pool_length", "pool_size"},
    {"stride", "strides"},
    {"p", "rate"},
    {"beta_init", "beta_initializer"},
    {"gamma_init", "gamma_initializer"},
    {"sigma", "stddev"},
};

// What older versions wrote and a model does not need.
const std::set<std::string, std::less<>> kDropped = {
    "batch_input_shape",
    "batch_shape",
    "input_shape",
    "input_dtype",
    "input_length",
    "implementation",
    "consume_less",
    "fused",
    "renorm",
    "renorm_clipping",
    "renorm_momentum",
    "virtual_batch_size",
    "adjustment",
    "ragged",
    "ragged_input",
    "sparse",
    "autocast",
    "experimental_autocast",
    "query_shape",
    "key_shape",
    "value_shape",
    "forget_bias_init",
    "force_generator",
    "rng_type",
    "synchronized",
    "mode",
};

void move_key(Json& config, std::string_view from, std::string_view to) {
  const auto found = config.find(from);
  if (found == config.end()) return;
  Json value = *found;
  config.erase(found);
  if (!config.contains(to)) config[std::string(to)] = std::move(value);
}

// Keras 2 wrote dtypes into initializers, and had other names for distributions.
void upgrade_initializer(Json& json) {
  if (!json.is_object() || !find(json, "config") || !json["config"].is_object()) return;
  Json& config = json["config"];
  config.erase("dtype");
  if (text_of(json, "class_name") == "VarianceScaling" && text_of(config, "distribution") == "normal") {
    config["distribution"] = "truncated_normal";
  }
}

// Keras 1 wrote the arguments beside the name, which ended with what it was: {"name": "L1L2Regularizer",
// "l2": 0.01}.
void upgrade_named(Json& json) {
  if (!json.is_object() || !json.contains("name") || json.contains("class_name")) return;
  std::string class_name = text_of(json, "name");
  Json config = json;
  config.erase("name");
  for (const std::string_view kind : {"Regularizer", "Constraint"}) {
    if (class_name.ends_with(kind)) class_name.resize(class_name.size() - kind.size());
  }
  if (class_name == "Weight") class_name = "L1L2";
  move_key(config, "m", "max_value");  // MaxNorm's
  json = {{"class_name", class_name}, {"config", std::move(config)}};
}

void upgrade_policy(Json& config) {
  const Json* dtype = find(config, "dtype");
  if (!dtype) return;
  // The first layer of an old chain has its input's there: an Embedding's "int32".
  if (dtype->is_string() && dtype->get<std::string>().find("int") != std::string::npos) {
    config.erase("dtype");
    return;
  }
  if (!dtype->is_object() || text_of(*dtype, "class_name") == "DTypePolicy") return;
  const Json* inner = find(*dtype, "config");
  if (inner && find(*inner, "mode")) return;  // quantized: refused when the layer is made
  config["dtype"] = inner ? text_of(*inner, "name") : std::string("float32");
}

void upgrade_keras1(const std::string& class_name, Json& config) {
  const bool embedding = class_name == "Embedding";
  for (const auto& [from, to] : kArguments) {
    if (embedding && (from == "output_dim" || from == "init")) continue;
    if (from == "p" && class_name.find("Dropout") == std::string::npos) continue;
    if (from == "stride" && class_name.find("Pooling") == std::string::npos) continue;
    move_key(config, from, to);
  }
  if (embedding) {
    move_key(config, "init", "embeddings_initializer");
    move_key(config, "W_regularizer", "embeddings_regularizer");
    move_key(config, "W_constraint", "embeddings_constraint");
  }
  if (!embedding) config.erase("input_dim");
  if (const Json* rows = find(config, "nb_row"); rows && find(config, "nb_col")) {
    config["kernel_size"] = {*rows, config["nb_col"]};
    config.erase("nb_row");
    config.erase("nb_col");
  }
  const std::string format = text_of(config, "data_format");
  if (format == "tf") config["data_format"] = "channels_last";
  if (format == "th") config["data_format"] = "channels_first";
  if (format == "default") config.erase("data_format");
  for (const char* key : {"kernel_initializer", "recurrent_initializer", "embeddings_initializer",
                          "beta_initializer", "gamma_initializer"}) {
    const std::string name = text_of(config, key);
    if (name == "zero") config[key] = "zeros";
    if (name == "one") config[key] = "ones";
    if (name == "uniform") config[key] = "random_uniform";
    if (name == "normal") config[key] = "random_normal";
  }
}

void upgrade_recurrent(const std::string& old_class, const std::string& name, Json& config) {
  const Json* time_major = find(config, "time_major");
  if (time_major && time_major->is_boolean() && time_major->get<bool>()) {
    fail(ErrorKind::unsupported, name,
         "has time_major=True; put Permute layers around it in Python and save the model again");
  }
  config.erase("time_major");
  if (old_class == "CuDNNLSTM" || old_class == "CuDNNGRU") {
    config["activation"] = "tanh";
    config["recurrent_activation"] = "sigmoid";
    if (old_class == "CuDNNGRU") config["reset_after"] = true;
  } else if (old_class.starts_with("GRU") && !config.contains("reset_after")) {
    config["reset_after"] = false;  // before it was an argument, that is what a GRU did
  }
}

// An axis that older versions wrote as a list of one.
void unlist(Json& config, const char* key) {
  const Json* value = find(config, key);
  if (value && value->is_array() && value->size() == 1) config[key] = Json((*value)[0]);
}

// null, false, 0, 1, "" and lists of them: what says nothing.
bool is_trivial(const Json& value) {
  if (value.is_array()) return std::all_of(value.begin(), value.end(), is_trivial);
  if (value.is_number()) return value.get<double>() == 0 || value.get<double>() == 1;
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_string()) return value.get_ref<const std::string&>().empty();
  return value.is_null() || (value.is_object() && value.empty());
}

// Arguments that a class had once and now has not, where they were not used. Those that were stay, and are
// refused by name.
void drop_trivial(const std::string& class_name, Json& config) {
  std::shared_ptr<Configurable> object;
  try {
    object = make_object(Family::layer, class_name);
  } catch (const Error&) {
    return;  // refused by name when the layer is made
  }
  const Json known = config_to_json(*object);
  std::vector<std::string> dropped;
  for (const auto& [key, value] : config.items()) {
    // How a weight began does not matter to one that was saved.
    if (!known.contains(key) && (is_trivial(value) || key.ends_with("_initializer"))) dropped.push_back(key);
  }
  for (const std::string& key : dropped) config.erase(key);
}

}  // namespace

void unwrap_values(Json& json) {
  if (!json.is_structured()) return;
  if (json.is_object() && json.contains("value") && (json.contains("type") || json.contains("dtype")) &&
      json.size() <= 3) {
    json = Json(json["value"]);
    return unwrap_values(json);
  }
  if (text_of(json, "class_name") == "__numpy__" && json.contains("config")) {
    json = Json(json["config"]);
    return unwrap_values(json);
  }
  for (Json& part : json) unwrap_values(part);
}

void upgrade_layer(Json& layer) {
  if (!layer.is_object() || !find(layer, "config")) return;
  if (is_operation(layer)) return;  // a "dtype" there is an argument, not the type of a layer
  const std::string old_class = text_of(layer, "class_name");
  Json& config = layer["config"];
  if (config.is_array() || find(config, "layers")) return upgrade_model(layer);
  if (!config.is_object()) return;
  if (const auto renamed = kClasses.find(old_class); renamed != kClasses.end())
    layer["class_name"] = renamed->second;
  if (const Json* dtype = find(config, "dtype"); dtype && text_of(*dtype, "class_name") == "DTypePolicy")
    return;
  unwrap_values(config);
  const std::string class_name = text_of(layer, "class_name"), name = text_of(config, "name");
  if (class_name == "InputLayer") {
    move_key(config, "batch_input_shape", "batch_shape");
    move_key(config, "input_dtype", "dtype");
    return;
  }
  upgrade_policy(config);
  upgrade_keras1(class_name, config);
  if (class_name == "LSTM" || class_name == "GRU" || class_name == "SimpleRNN" || class_name == "GRUCell")
    upgrade_recurrent(old_class, name, config);
  if (class_name == "LeakyReLU") move_key(config, "alpha", "negative_slope");
  if (old_class == "ThresholdedReLU") {
    move_key(config, "theta", "threshold");
    if (!config.contains("threshold")) config["threshold"] = 1.0;
  }
  if (class_name == "BatchNormalization") unlist(config, "axis");
  for (const char* inner :
       {"layer", "backward_layer", "cell", "cells", "activation", "recurrent_activation"}) {
    if (!config.contains(inner)) continue;
    Json& within = config[inner];
    if (within.is_array()) {
      for (Json& one : within) upgrade_layer(one);
    } else {
      upgrade_layer(within);
    }
  }
  for (auto& [key, value] : config.items()) {
    if (key.ends_with("_initializer")) upgrade_initializer(value);
    if (key.ends_with("_regularizer") || key.ends_with("_constraint")) upgrade_named(value);
  }
  for (const std::string& key : kDropped) config.erase(key);
  drop_trivial(class_name, config);
}

}  // namespace plimsoll::keras_io
