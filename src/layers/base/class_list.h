// The list of files that define classes, written by CMake.
#pragma once

#include <span>

#include "plimsoll/config.h"

namespace plimsoll {

using ClassFile = std::span<const ClassDef> (*)();
std::span<const ClassFile> class_files();

}  // namespace plimsoll
