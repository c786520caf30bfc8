// Programs and notebooks that a person asks about.
#pragma once

#include <filesystem>
#include <string>

namespace plimsoll::doctor {

inline bool is_program(const std::filesystem::path& file) {
  return file.extension() == ".py" || file.extension() == ".ipynb";
}

struct Program {
  // The Python of a file; of a notebook its code cells. Commands of IPython (%, !) are left out, but for
  // those that load a module: `%load_ext tensorboard` is an import.
  std::string source;
  std::string kernel;  // that a notebook asks for: "python3"; empty: none
};
// Throws Error{bad_file} if a notebook is not JSON, Error{not_found} if the file cannot be read.
Program read_program(const std::filesystem::path& file);

}  // namespace plimsoll::doctor
