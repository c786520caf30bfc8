// ImportFollower walks from package to package as their import statements would, by reading source files, and
// notes what cannot be found: modules that are nowhere, and names that the module they are taken from does
// not have. Only statements that always run count, and only across packages: what a package lost of itself
// its RECORD tells better. One thread uses it.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "doctor/patience.h"
#include "doctor/python/environment.h"
#include "doctor/python/source.h"

namespace plimsoll::doctor {

struct BrokenImport {
  enum class Kind { module, name, old_finder };
  Kind kind = Kind::module;
  std::string package;         // who imports
  std::filesystem::path by;    // in which file
  std::string module;          // from what: "scipy.misc"
  std::string name;            // what of it; empty for a module
  bool on_demand = false;      // only when a part of the package is imported by its own name
  std::filesystem::path from;  // the file that does not have the name
};

class ImportFollower {
 public:
  explicit ImportFollower(const Environment& environment) : environment_(environment) {}

  void start(const std::string& package) { visit_package(package); }
  // The public modules of a package that people import by name: jax.scipy.linalg.
  void start_parts(const std::string& package);
  // Reads files until all are followed, or patience is over.
  void run(const Patience& patience);
  const std::vector<BrokenImport>& broken() const { return broken_; }

 private:
  struct File {
    std::string package;
    std::filesystem::path root, path;  // the package's folder, and the file
    bool on_demand = false;
  };
  // What a dotted name leads to. Where that cannot be seen, nothing.
  struct Found {
    bool missing = false;
    std::string module;            // as far as it goes, if it is missing
    std::filesystem::path file;    // its source
    std::filesystem::path native;  // or the library it is
  };
  struct Read {
    SourceReading source;
    bool old_finder = false;
  };

  Read read(const std::filesystem::path& path) const;
  void visit(const File& file);
  void visit_package(const std::string& name);
  void visit_module(const File& by, const std::filesystem::path& folder, std::string_view dotted);
  bool is_package(const std::filesystem::path& folder);
  void follow(const File& by, const ImportStatement& s);
  void follow_other(const File& by, const ImportStatement& s);
  void check_chains(const File& by, const SourceReading& source);
  const Origin& origin_of(const std::string& top);
  Found find_module(const std::string& dotted);
  Found look_for_module(const std::string& dotted);
  const ModuleNames& names_of(const std::filesystem::path& file);
  bool has_name(const std::filesystem::path& file, const std::string& module, const std::string& name);
  bool can_have(const std::filesystem::path& file, const std::string& module, std::string_view name,
                int depth);
  bool can_export(const Found& found, const std::string& module, std::string_view name, int depth);
  bool is_expired(const std::string& module, const std::string& name);
  bool is_there_somewhere(const std::string& top, std::string_view module);
  bool is_mapped(const std::string& top);
  void add(BrokenImport broken);

  const Environment& environment_;
  std::vector<File> files_;
  size_t done_ = 0;  // of files_
  std::set<std::string> seen_, looked_, reported_, asked_;
  std::map<std::string, bool> packages_;
  std::map<std::string, Origin> origins_;
  std::map<std::string, Found> modules_;
  std::map<std::string, std::unique_ptr<ModuleNames>> names_;
  std::set<std::string, std::less<>> expired_;
  bool expired_read_ = false;
  std::vector<BrokenImport> broken_;
};

// Names that NumPy had and refuses today, by the version that is installed.
std::set<std::string, std::less<>> expired_numpy_names(const Environment& environment);

}  // namespace plimsoll::doctor
