#include "layers/base/config_json.h"

#include <gtest/gtest.h>

#include "common/json.h"

#include "layers/base/class_list.h"
#include "plimsoll/error.h"
#include "plimsoll/layers.h"

namespace plimsoll {
namespace {

std::shared_ptr<Configurable> read_layer(const char* text) {
  return object_from_json(Family::layer, ConfigJson::parse(text));
}

ErrorKind kind_of_reading(const char* text) {
  try {
    read_layer(text);
  } catch (const Error& e) {
    return e.kind();
  }
  return ErrorKind::internal;
}

TEST(ConfigJson, WritesADenseAsKerasDoes) {
  const Layer layer =
      Dense(2, {.activation = "relu", .kernel_initializer = GlorotUniform({.seed = 3}), .name = "d"});
  const ConfigJson want =
      ConfigJson::parse(R"({"module": "keras.layers", "class_name": "Dense", "config": {"name": "d",
    "trainable": true, "dtype": {"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"},
    "registered_name": null}, "units": 2, "activation": "relu", "use_bias": true, "kernel_initializer": {"module":
    "keras.initializers", "class_name": "GlorotUniform", "config": {"seed": 3, "input_axes": null, "output_axes": null}, "registered_name": null},
    "bias_initializer": {"module": "keras.initializers", "class_name": "Zeros", "config": {}, "registered_name": null},
    "kernel_regularizer": null, "bias_regularizer": null, "kernel_constraint": null, "bias_constraint": null,
    "quantization_config": null}, "registered_name": null})");
  EXPECT_EQ(object_to_json(*layer).dump(), want.dump());
}

TEST(ConfigJson, ReadsBackWhatItWrites) {
  const Layer layer = Conv2D(4, {3, 5}, {.strides = 2, .padding = "same", .activation = "tanh", .name = "c"});
  layer->set_trainable(false);
  layer->set_dtype_policy("mixed_bfloat16");
  const ConfigJson json = object_to_json(*layer);
  EXPECT_EQ(object_to_json(*object_from_json(Family::layer, json)).dump(), json.dump());
}

TEST(ConfigJson, LeavesDefaultsAndTakesShortForms) {
  const auto layer =
      read_layer(R"({"class_name": "Conv2D", "config": {"filters": 4.0, "kernel_size": 3, "data_format": null,
      "kernel_initializer": "ones", "bias_initializer": null, "dtype": "float64"}})");
  const ConfigJson config = config_to_json(*layer);
  EXPECT_EQ(config["filters"], 4);
  EXPECT_EQ(config["data_format"], "channels_last");
  EXPECT_EQ(config["kernel_initializer"]["class_name"], "Ones");
  EXPECT_TRUE(config["bias_initializer"].is_null());
  EXPECT_EQ(config["dtype"]["config"]["name"], "float64");
}

TEST(ConfigJson, NamesWhatItCannotRead) {
  EXPECT_EQ(kind_of_reading(R"({"class_name": "Nothing", "config": {}})"), ErrorKind::not_found);
  EXPECT_EQ(kind_of_reading(R"({"class_name": "Dense", "config": {"units": 1, "colour": 2}})"),
            ErrorKind::unsupported);
  EXPECT_EQ(kind_of_reading(R"({"class_name": "Dense", "config": {"units": 1, "quantization_config": {}}})"),
            ErrorKind::unsupported);
  EXPECT_EQ(kind_of_reading(R"({"class_name": "Dense", "config": {"units": "many"}})"),
            ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of_reading(R"({"class_name": "Dense", "config": {"units": 1.5}})"),
            ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of_reading(R"({"class_name": "Dense", "config": {"units": 1, "use_bias": "no"}})"),
            ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of_reading(R"({"class_name": "Dense", "config": {"units": 18446744073709551615}})"),
            ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of_reading(R"({"class_name": "Dense", "config": []})"), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of_reading(R"({"class_name": "Dense", "config": {"units": 1, "dtype": 3}})"),
            ErrorKind::unsupported);
  EXPECT_EQ(kind_of_reading(R"({"class_name": "Dense", "config": {"units": 1, "dtype": {"class_name": 3}}})"),
            ErrorKind::unsupported);
  EXPECT_EQ(
      kind_of_reading(R"({"class_name": "Dense", "config": {"units": 1, "activation": {"class_name": {}}}})"),
      ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of_reading(R"(17)"), ErrorKind::invalid_argument);
}

TEST(ConfigJson, WantsWhatHasNoDefault) {
  for (const char* text : {R"({"class_name": "Dense", "config": {}})", R"({"class_name": "Dense"})",
                           R"("Dense")", R"({"class_name": "Conv2D", "config": {"filters": 3}})",
                           R"({"class_name": "LSTM", "config": {"units": null}})"}) {
    EXPECT_EQ(kind_of_reading(text), ErrorKind::invalid_argument) << text;
  }
}

TEST(ConfigJson, KnowsTheFirstArgument) {
  EXPECT_EQ(first_argument(Family::layer, "LSTM"), "units");
  EXPECT_EQ(first_argument(Family::layer, "SeparableConv2D"), "filters");
  EXPECT_EQ(first_argument(Family::layer, "MaxPool2D"), "pool_size");
  EXPECT_EQ(first_argument(Family::layer, "Add"), "");
}

TEST(ConfigJson, TakesNoActivationForLinear) {
  const auto layer = read_layer(R"({"class_name": "LSTM", "config": {"units": 2, "activation": null}})");
  EXPECT_EQ(config_to_json(*layer)["activation"], "linear");
}

// Values that no argument of this kind can have.
std::vector<ConfigJson> wrong_for(const ConfigJson& value) {
  if (value.is_boolean()) return {0, 1, "true", 1.0, ConfigJson::array({true})};
  if (value.is_string()) return {3, true, ConfigJson::array({"a"})};
  if (value.is_number()) return {true, "3", ConfigJson::object()};
  if (value.is_array()) return {true, "3", ConfigJson::array({true}), ConfigJson::array({"3"})};
  return {};
}

TEST(ConfigJson, TakesNoValueOfAnotherKind) {
  for (const ClassFile file : class_files()) {
    for (const ClassDef& row : file()) {
      if (row.family != Family::layer) continue;
      ConfigJson config = config_to_json(*row.make());
      for (const std::string& name : required_arguments(row.family, row.name)) {
        if (config[name].is_null()) config[name] = {2, 1};
      }
      for (const auto& [key, value] : config.items()) {
        if (config.contains("layer")) continue;
        for (const ConfigJson& other : wrong_for(value)) {
          ConfigJson wrong = config;
          wrong[key] = other;
          EXPECT_THROW(config_from_json(*row.make(), wrong), Error)
              << row.name << ": " << key << " " << other;
        }
      }
    }
  }
}

}  // namespace
}  // namespace plimsoll
