// Programs and notebooks that a person asks about.
#pragma once

#include <filesystem>
#include <string>

namespace plimsoll::doctor {

inline bool is_program(const std::filesystem::path& file) {
  return file.extension() == ".py" || file.extension() == ".ipynb";
}

// The Python of a file; of a notebook its code cells, without commands of IPython (%, !). Throws
// Error{bad_file} if a notebook is not JSON, Error{not_found} if the file cannot be read.
std::string read_program(const std::filesystem::path& file);

}  // namespace plimsoll::doctor
