#pragma once

#include <string>

namespace plimsoll::guard {

// Now, as ISO 8601 in UTC with microseconds.
std::string timestamp();

}  // namespace plimsoll::guard
