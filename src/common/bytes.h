// Sizes in bytes as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace plimsoll {

// "0 B", "1023 B", "1.0 KiB", "2.5 GiB": binary units, one digit after the point.
std::string bytes_text(int64_t bytes);

}  // namespace plimsoll
