// ImportPath is sys.path as the interpreter would make it, from files alone: the notebook's folder,
// PYTHONPATH, the standard library, the site folders, each followed by what its .pth files add. Immutable;
// may be read from several threads.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::doctor {

struct PathEntry {
  enum class From { folder, variable, standard, site, pth };

  std::filesystem::path folder;
  From from = From::site;
  std::string written;                       // as PYTHONPATH or the .pth file has it
  std::filesystem::path pth;                 // the file that adds it
  bool of_other_python = false;              // packages or standard library of another version
  std::set<std::string, std::less<>> names;  // of the files and folders in it
  // A zip archive in the place of a folder: its Python files and the metadata in it. Else empty.
  std::set<std::string, std::less<>> members = {};
};

// A .pth file, and what of it cannot work.
struct PthFile {
  std::filesystem::path file;
  std::vector<std::string> gone;     // folders that are not there
  std::vector<std::string> modules;  // that its lines import when Python starts
};

// Where `import name` would find a module.
struct Origin {
  enum class Kind { none, package, module, name_space };

  Kind kind = Kind::none;
  std::filesystem::path file;  // __init__.py, the module, or the folder of a name space
  const PathEntry* entry = nullptr;
  explicit operator bool() const { return kind != Kind::none; }
};

class ImportPath {
 public:
  // `tag` is "cpython-311": the native modules that this Python looks for.
  explicit ImportPath(std::string tag = "") : tag_(std::move(tag)) {}

  // Adds a folder unless it is there already; what does not exist is left out, as Python leaves it out.
  void add(PathEntry entry);
  // Adds a site folder and what its .pth files name.
  void add_site(const std::filesystem::path& site, std::string_view own_python);

  const std::vector<PathEntry>& entries() const { return entries_; }
  const std::vector<PthFile>& pth_files() const { return pth_files_; }
  // A top-level module, looked for in all entries or, with `from`, from that one on.
  Origin find(std::string_view name, size_t from = 0) const;

 private:
  Origin find_in(const PathEntry& entry, std::string_view name) const;

  std::string tag_;
  std::vector<PathEntry> entries_;
  std::vector<PthFile> pth_files_;
};

// Whether a path leads into the packages of another Python than `own_python` ("python3.11").
bool leads_to_other_python(std::string_view path, std::string_view own_python);

// Whether CPython may have a module of this name built into its program, where no file shows it.
bool is_built_in_module(std::string_view name);

// What one line of a .pth file does: names a folder, or imports modules.
struct PthLine {
  std::string folder;
  std::vector<std::string> modules;
  std::string inserted;  // a folder that its code puts at the head of sys.path
};
PthLine parse_pth_line(std::string_view line);

}  // namespace plimsoll::doctor
