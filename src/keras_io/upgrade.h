// Configs of Keras 1 and 2 and of tf.keras, rewritten into those of Keras 3: names of classes and arguments,
// how layers are connected, inputs, TensorFlow functions. What is in the form of Keras 3 already stays as it
// is.
#pragma once

#include "keras_io/json.h"

namespace plimsoll::keras_io {

// A whole model: {"class_name": "Sequential", "config": ...}. Throws Error{unsupported} naming a layer that
// has no counterpart.
void upgrade_model(Json& model);
// In a model that Keras 1 or 2 wrote: what Keras 3 gave another meaning gets a name of ours, which keeps the
// old one ("hard_sigmoid" was 0.2 x + 0.5). Returns whether there was such a thing.
bool keep_old_meanings(Json& model);
// "training_config" of an .h5 file, into what Keras 3 calls "compile_config". A list of metrics is meant for
// each of the `outputs` there.
Json upgrade_training_config(const Json& config, size_t outputs = 1);
// The same for "compile_config" of a .keras file that Keras 2 wrote.
void upgrade_compile_config(Json& config);

}  // namespace plimsoll::keras_io
