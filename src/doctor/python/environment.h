// A Python environment as its files show it: interpreter, site folders, installed projects.
// Read once, then immutable; may be read from several threads.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "doctor/python/distribution.h"
#include "doctor/python/import_path.h"
#include "doctor/system.h"

namespace plimsoll::doctor {

struct Environment {
  enum class Kind { venv, conda, prefix };

  std::filesystem::path prefix;       // of the environment
  std::filesystem::path base_prefix;  // of the Python behind it
  std::filesystem::path python;       // prefix/bin/python3, there or not
  std::filesystem::path interpreter;  // the file it finally is; empty if it is not there
  Kind kind = Kind::prefix;
  uint64_t major = 0, minor = 0;
  Version version;             // as exact as the files tell
  bool exact_version = false;  // whether the last part is known
  bool free_threaded = false;
  bool is_macos = false;                     // a Python for macOS, wherever we look at it
  std::string machine;                       // x86_64, aarch64, arm64
  bool musl = false;                         // runs on musl instead of glibc
  bool config_lost = false;                  // a venv without its pyvenv.cfg
  bool by_uv = false;                        // made by uv, which needs no pip inside
  std::filesystem::path base_folder;         // "home" of pyvenv.cfg: where the base interpreter lies
  std::vector<std::filesystem::path> sites;  // in the order of sys.path
  ImportPath path;                           // all of sys.path
  std::filesystem::path standard_library;    // lib/python3.11
  std::vector<Distribution> distributions;   // in the order of sys.path
  MarkerValues markers;

  // The project as Python would find it (first on the path); null if it is not installed.
  const Distribution* find(std::string_view normal_name) const;
  // The first file or folder `relative` on the path, the notebook's folder left out; empty if there is none.
  std::filesystem::path locate(const std::filesystem::path& relative) const;
  std::string shown() const;
};

// Throws Error{not_found} if no Python environment is at `where`.
Environment read_environment(const std::filesystem::path& where, const System& system);
// Where to look if the user does not say. Throws Error{not_found} if there is no Python at all.
std::filesystem::path default_environment(const System& system);

}  // namespace plimsoll::doctor
