#include "layers/base/config_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

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
  EXPECT_EQ(kind_of_reading(R"({"class_name": "Dense", "config": {"use_bias": "no"}})"),
            ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of_reading(R"({"class_name": "Dense", "config": []})"), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of_reading(R"({"class_name": "Dense", "config": {"dtype": 3}})"), ErrorKind::unsupported);
  EXPECT_EQ(kind_of_reading(R"(17)"), ErrorKind::invalid_argument);
}

}  // namespace
}  // namespace plimsoll
