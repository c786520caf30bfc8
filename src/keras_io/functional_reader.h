// Functional models from the JSON of Keras 3.
#pragma once

#include "keras_io/json.h"
#include "plimsoll/layer.h"

namespace plimsoll::keras_io {

// `config` has "layers", "input_layers" and "output_layers". The network has no name yet. Throws as
// network_from_json.
Layer read_functional(const Json& config, const std::string& place);

}  // namespace plimsoll::keras_io
