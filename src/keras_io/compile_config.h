// How a model was compiled, as Keras 3 writes it under "compile_config", and as older files do under
// "training_config".
#pragma once

#include <string_view>

#include "keras_io/json.h"
#include "plimsoll/model.h"

namespace plimsoll::keras_io {

// Throws Error{unsupported} or {not_found} if a loss or the optimizer is not known. A metric that is not
// known is left out with a warning that begins with `place`, the file.
CompileArgs compile_args_from_json(const Json& json, std::string_view place);
Json compile_args_to_json(const CompileArgs& args);

}  // namespace plimsoll::keras_io
