// The part of Python's str.format that paths of checkpoints use: {epoch:02d}, {val_loss:.2f}, {acc}, {{, }}.
#pragma once

#include <string>
#include <string_view>

#include "plimsoll/callbacks.h"

namespace plimsoll {

// Throws Error{invalid_argument} naming the field that is not among the values or has a form we do not know.
std::string python_format(std::string_view text, const Logs& values);

}  // namespace plimsoll
