// The names that refusal() has a reason for.
#pragma once

#include <string_view>
#include <vector>

#include "plimsoll/config.h"

namespace plimsoll {

std::vector<std::string_view> refused_names(Family family);

}  // namespace plimsoll
