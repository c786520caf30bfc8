// Kernelspecs: the folders in which Jupyter looks for kernels, and guarded twins of the kernels there.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace plimsoll::guard {

struct Kernelspec {
  std::string name;
  std::filesystem::path folder;
  nlohmann::json json;
  // The name of the kernel it guards, if it is a guarded twin.
  std::optional<std::string> guards() const;
};

// The folders `…/kernels` in Jupyter's order: JUPYTER_PATH, the user's, the environment's, the system's.
std::vector<std::filesystem::path> kernel_folders();

// Every kernel in `folders`; of two with one name the first wins. Unreadable ones are left out.
std::vector<Kernelspec> list_kernelspecs(const std::vector<std::filesystem::path>& folders);

struct InstallOptions {
  std::string of = "python3";      // the kernel to guard
  std::string name;                // of the twin; empty: "<of>-guarded"
  std::vector<std::string> words;  // options of the guard, such as --memory 4GiB
  std::filesystem::path prefix;    // into <prefix>/share/jupyter; empty: the user's folder
  std::filesystem::path guard;     // the program plimsoll-guard
};

// The twin of `spec`, as kernel.json holds it. Pure. Throws Error{bad_file} if `spec` has no argv.
nlohmann::json guarded_twin(const Kernelspec& spec, const InstallOptions& options);

// Writes the twin and returns its folder. Throws Error{not_found} if there is no kernel `of`,
// Error{invalid_argument} if the guard would not take its options.
std::filesystem::path install_kernelspec(const InstallOptions& options,
                                         const std::vector<std::filesystem::path>& folders);

// Removes a guarded twin. Throws Error{not_found}, or Error{invalid_argument} if `name` is not a
// guarded kernel: those of others are theirs to remove.
std::filesystem::path remove_kernelspec(const std::string& name,
                                        const std::vector<std::filesystem::path>& folders);

}  // namespace plimsoll::guard
