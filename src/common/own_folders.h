// Where the engine itself lies, to find what was installed beside it.
#pragma once

#include <filesystem>
#include <vector>

namespace plimsoll {

// The folder of the program, and that of the shared library with this code where it is in one.
std::vector<std::filesystem::path> own_folders();

}  // namespace plimsoll
