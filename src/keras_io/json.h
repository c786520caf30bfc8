// JSON text somebody else wrote, within limits of size and depth. Keys keep their order, as Keras writes
// them.
#pragma once

#include "common/json.h"
#include <string>
#include <string_view>

namespace plimsoll::keras_io {

using Json = nlohmann::ordered_json;

inline constexpr size_t kMostJson = 64u << 20;  // bytes of one document
inline constexpr int kMostJsonDepth = 256;

// Python's NaN, Infinity and -Infinity are numbers too. Throws Error{bad_file} naming `place` and where in the text the trouble is.
Json parse_json(std::string_view text, const std::string& place);
// As Python's json.dumps writes it: ", " and ": " between things, ASCII only.
std::string to_text(const Json& json);

}  // namespace plimsoll::keras_io
