// Vocabularies that IntegerLookup layers have learnt in Python lie beside the config of a .keras file.
#pragma once

#include "common/zip_reader.h"
#include "keras_io/json.h"

namespace plimsoll::keras_io {

// Puts those of `zip` into the configs of the layers of `model`, where its own are null. Throws
// Error{bad_file} with the member's name for one that is no list of integers.
void add_vocabularies(Json& model, const ZipReader& zip, const std::string& folder = "assets");

}  // namespace plimsoll::keras_io
