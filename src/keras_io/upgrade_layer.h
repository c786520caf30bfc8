// One layer of an older Keras as one of Keras 3.
#pragma once

#include "keras_io/json.h"

namespace plimsoll::keras_io {

// Class and arguments; not its connections. Throws Error{unsupported} naming the layer.
void upgrade_layer(Json& layer);
// {"type": "ndarray", "value": 1} and the like, to the value itself, anywhere in the config.
void unwrap_values(Json& json);

}  // namespace plimsoll::keras_io
