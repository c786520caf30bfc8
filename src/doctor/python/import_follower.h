// ImportFollower walks from package to package as their import statements would, by reading source files, and
// notes what cannot be found: modules that are nowhere, and names that the module they are taken from does
// not have. Only statements that always run count, and only across packages: what a package lost of itself
// its RECORD tells better. An import that a package tries and can do without is followed too: attributes that
// are missing in what it leads to are not caught with it. One thread uses it.
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
  enum class Kind { module, name, old_finder, syntax, mutable_default };
  Kind kind = Kind::module;
  std::string package;         // who imports
  std::filesystem::path by;    // in which file
  std::string module;          // from what: "scipy.misc"
  std::string name;            // what of it; empty for a module; of the last two kinds, what is wrong
  std::string part;            // only when this part of the package is imported: "jax.scipy"; empty: always
  std::filesystem::path from;  // the file that does not have the name
  std::string python_part;     // the part of Python that was left out when it was built: "_bz2"
  bool insisted = false;       // who imports it says in so many words that nothing goes without
  bool sure = true;  // false: the module makes names when it runs, and this one seems not among them
};

class ImportFollower {
 public:
  // `lost_parts`: native parts of Python's own library that it was built without: "_bz2".
  explicit ImportFollower(const Environment& environment, std::set<std::string, std::less<>> lost_parts = {})
      : environment_(environment), lost_parts_(std::move(lost_parts)) {}

  void start(const std::string& package) { visit_package(package, {}); }
  // A program or the cells of a notebook: `shown` stands for it as a package.
  void start_program(const std::string& shown, const std::filesystem::path& path, std::string_view source);
  // A package without RECORD: what it lost of itself counts as well.
  void watch(const std::string& package) { watched_.insert(package); }
  // The public modules of a package that people import by name: jax.scipy, and with `inner_parts_too`
  // jax.scipy.linalg.
  void start_parts(const std::string& package, bool inner_parts_too);
  // Reads files until all are followed, or patience is over.
  void run(const Patience& patience);
  const std::vector<BrokenImport>& broken() const { return broken_; }

 private:
  struct File {
    std::string package;
    std::filesystem::path root, path;  // the package's folder, and the file
    std::string part{};  // of the package, by which it was come to; empty: by the package itself
    bool tried = false;  // an ImportError in it is caught
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
    std::string mutable_default;  // a field of a dataclass that this Python refuses
  };

  Read read(const std::filesystem::path& path) const;
  Read read_text_of(std::string_view text, bool program = false) const;
  void follow_all(const File& file, const Read& reading);
  void visit(const File& file);
  void visit_package(const std::string& name, const File& by);
  void visit_module(const File& by, const std::filesystem::path& folder, std::string_view dotted);
  bool is_package(const std::filesystem::path& folder);
  bool follow(const File& by, const ImportStatement& s);
  bool follow_inner(const File& by, const ImportStatement& s);
  bool follow_other(const File& by, const ImportStatement& s);
  std::vector<BrokenImport> check_other(const File& by, const ImportStatement& s);
  void check_chains(const File& by, const SourceReading& source, const std::set<int>& failed);
  const Origin& origin_of(const std::string& top);
  Found find_module(const std::string& dotted);
  Found look_for_module(const std::string& dotted);
  const ModuleNames& names_of(const std::filesystem::path& file);
  bool has_name(const std::filesystem::path& file, const std::string& module, const std::string& name);
  bool can_have(const std::filesystem::path& file, const std::string& module, std::string_view name,
                int depth);
  bool can_export(const Found& found, const std::string& module, std::string_view name, int depth);
  bool can_make(const std::filesystem::path& file, const ModuleNames& names, const std::string& module,
                std::string_view name);
  bool has_import_hook(const std::filesystem::path& folder);
  bool shows_all_names(const std::filesystem::path& file, const std::string& module, const std::string& name);
  bool is_in_package(const std::filesystem::path& root, std::string_view name);
  std::string lost_native(const std::string& module);
  bool is_removed(const std::string& dotted) const;
  bool is_expired(const std::string& module, const std::string& name);
  bool is_there_somewhere(const std::string& top, std::string_view module);
  bool is_mapped(const std::string& top);
  void add(BrokenImport broken);

  const Environment& environment_;
  std::set<std::string, std::less<>> lost_parts_;
  std::vector<File> files_, tried_files_;
  size_t done_ = 0;  // of files_
  std::set<std::string> seen_, looked_, reported_, asked_, watched_;
  std::map<std::string, std::vector<BrokenImport>> checked_;
  std::map<std::string, bool> in_package_, packages_, hooks_;
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
