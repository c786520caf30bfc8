// How a model was compiled, as Keras 3 writes it under "compile_config", and as older files do under
// "training_config".
#pragma once

#include "keras_io/json.h"
#include "plimsoll/model.h"

namespace plimsoll::keras_io {

// Throws Error{unsupported} or {not_found} if a loss, metric or optimizer is not known.
CompileArgs compile_args_from_json(const Json& json);
Json compile_args_to_json(const CompileArgs& args);

}  // namespace plimsoll::keras_io
