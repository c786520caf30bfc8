// Where a command finds its model: a .keras or .h5 file, an architecture as JSON, or a short YAML of layers.
#pragma once

#include <filesystem>
#include <string>

#include "plimsoll/model.h"

namespace plimsoll::cli {

// By the suffix. Throws Error{not_found}, {bad_file} with the place, {unsupported}.
Model open_model(const std::filesystem::path& path);

// Keras's JSON of the Sequential model that a YAML text describes:
//
//   input: [28, 28, 1]
//   layers:
//     - Conv2D: {filters: 32, kernel_size: 3, activation: relu}
//     - MaxPooling2D            # all defaults
//     - Flatten
//     - Dense: 10               # the first argument alone
//     - Dense: {units: 2, kernel_regularizer: {L2: 0.01}}
//
// The input may also be the first layer: 'Input: {shape: [7], dtype: int32}'.
// Throws Error{bad_file} naming `place`, line and column.
std::string json_of_yaml(const std::string& text, const std::string& place);

}  // namespace plimsoll::cli
