// One layer as the JSON of Keras 3, networks inside it too.
#pragma once

#include "keras_io/json.h"
#include "layers/base/config_json.h"
#include "plimsoll/layer.h"

namespace plimsoll::keras_io {

// Any layer but an Operation. Throws Error{unsupported} naming a layer of a class that is not known.
Layer layer_from_json(const Json& json);
Json layer_to_json(const Layer& layer);
// What config_json is to ask for networks and input layers.
const ConfigHooks& network_hooks();

bool is_network(const Json& json);
Json shape_to_json(const SymbolShape& shape);  // -1 as null

}  // namespace plimsoll::keras_io
