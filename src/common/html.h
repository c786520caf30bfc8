// Text for HTML and SVG. Any thread.
#pragma once

#include <string>

namespace plimsoll {

// With <, >, & and " as entities.
std::string escape_html(const std::string& text);

}  // namespace plimsoll
