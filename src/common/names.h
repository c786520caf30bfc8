// Lists of names for messages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll {

// "a, b, c".
std::string joined(std::span<const std::string> names);
// The same with those most like `wanted` first, for an error about a name that is not there. Of very many
// only the first are listed.
std::string nearest_first(std::string_view wanted, std::vector<std::string> names);

}  // namespace plimsoll
