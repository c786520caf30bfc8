// Conditions that are decided before a file runs: the version of Python, the system, TYPE_CHECKING.
#pragma once

#include <optional>
#include <string_view>

#include "doctor/python/source.h"

namespace plimsoll::doctor {

// The value of `sys.version_info >= (3, 8)` and the like; nothing where it cannot be told.
std::optional<bool> decide(std::string_view condition, const SourceReader& reader);

}  // namespace plimsoll::doctor
