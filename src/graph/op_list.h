// The list of files in src/ops/, written by CMake.
#pragma once

#include <span>

#include "graph/op.h"

namespace plimsoll {

using OpFile = std::span<const OpDef> (*)();
std::span<const OpFile> op_files();

}  // namespace plimsoll
