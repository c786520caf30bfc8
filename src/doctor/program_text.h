// What stops Python from compiling a program that a person wrote or copied: characters of web pages and
// editors, escapes in the paths of Windows, another encoding, words of a newer Python.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plimsoll::doctor {

struct TextTrouble {
  std::string what;      // "line 4 holds a no-break space (U+00A0)"
  std::string leads_to;  // "SyntaxError: invalid non-printable character U+00A0"
  std::string fix;       // in words
};
// The first thing that keeps Python 3.`minor` from compiling the text, or from running a function's head.
std::optional<TextTrouble> text_trouble(std::string_view source, uint64_t minor);
// The file is no UTF-8 and does not say what else it is. `file` is for the fix.
std::optional<TextTrouble> encoding_trouble(std::string_view source, std::string_view file);

}  // namespace plimsoll::doctor
