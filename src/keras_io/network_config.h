// Networks and their layers as the JSON of Keras 3: what stands in config.json of a .keras file. Older
// spellings are brought to this form first (upgrade.h).
#pragma once

#include "keras_io/json.h"
#include "plimsoll/layer.h"

namespace plimsoll::keras_io {

// {"class_name": "Functional" or "Sequential", "config": ...}, with all its layers connected. Throws
// Error{bad_file} naming `place` if the JSON is no model, Error{unsupported} naming a layer of a class that
// is not known.
Layer network_from_json(const Json& json, const std::string& place);
// Requires: a Functional or Sequential. Throws Error{unsupported} naming a layer that a file cannot hold.
Json network_to_json(const Layer& network);

}  // namespace plimsoll::keras_io
