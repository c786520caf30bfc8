// What a saved Keras model says of itself: who wrote it, in which format, with which layers.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "doctor/python/version.h"

namespace plimsoll::doctor {

struct ModelFile {
  enum class Format { keras, h5, weights };
  struct Layer {
    std::string class_name, name;
    std::string package;               // of a custom class: "my_package"; empty for Keras's own
    std::string module;                // of a custom class that is imported from there: "my_layers"
    bool operation = false;            // keras.ops.relu(x) in a functional model
    std::vector<std::string> options;  // keys of its config
    bool lambda_code = false;          // holds compiled Python
  };

  Format format = Format::h5;
  std::string version_text;  // of the Keras that wrote it; empty if it does not say
  std::optional<Version> version;
  std::string backend;
  std::vector<Layer> layers;
  std::vector<std::string> short_losses;   // of an .h5 compiled with loss="mse"
  std::vector<std::string> own_functions;  // of its author, in what it was compiled with: losses, metrics
};

// Throws Error{not_found} if it cannot be read, Error{bad_file} if it is no model or damaged.
ModelFile read_model_file(const std::filesystem::path& path);

}  // namespace plimsoll::doctor
