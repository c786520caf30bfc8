// How layers of older files are connected, and TensorFlow's functions among them, as Keras 3 has both.
#pragma once

#include "keras_io/json.h"

namespace plimsoll::keras_io {

// ["dense", 0, 0] or ["dense", 0, 0, {...}]: where a tensor comes from.
bool is_reference(const Json& json);
// One call of a layer: {"args": [...], "kwargs": {...}}. One in the form of Keras 3 stays as it is.
Json upgrade_node(const Json& node);
// A TFOpLambda or SlicingOpLambda, into the operation of keras.ops that gives the same. Throws
// Error{unsupported} that names the layer, for a function or an argument that has no counterpart.
void upgrade_function(Json& layer);

}  // namespace plimsoll::keras_io
