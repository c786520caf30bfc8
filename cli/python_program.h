// The Python that runs scripts on Plimsoll.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace plimsoll::cli {

// The interpreter that has the package `plimsoll`: `given` if it is not empty, else the one of the active
// virtual environment, the one beside this program, or the first on PATH. Throws Error{not_found} with what
// was tried.
std::filesystem::path find_python(const std::string& given);

// Becomes `python -m module words...`; returns only by throwing.
[[noreturn]] void become_python(const std::string& given, const std::string& module,
                                const std::vector<std::string>& words);

}  // namespace plimsoll::cli
