// Sizes in bytes as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace plimsoll {

// "0 B", "1023 B", "1.0 KiB", "2.5 GiB": binary units, one digit after the point.
std::string bytes_text(int64_t bytes);
// The same for what is to be typed again as an amount that is enough: never less, and with three digits from
// 1 GiB on: "1.044 GiB".
std::string bytes_text_up(int64_t bytes);

// "2GiB", "1.5g", "300 MB", "1024", or "60%" of `whole`. Throws Error{invalid_argument} for anything else.
int64_t parse_bytes(std::string_view text, int64_t whole);

}  // namespace plimsoll
