// Libraries are the native files of an environment (and the system's that they need), read as the
// dynamic loader would and linked to one another. Read once, then immutable; may be read from
// several threads.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "doctor/formats/elf.h"
#include "doctor/formats/macho.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/python/environment.h"
#include "doctor/system.h"

namespace plimsoll::doctor {

struct Library {
  std::filesystem::path path;
  std::string shown;                    // below its site folder where it has one
  const Distribution* owner = nullptr;  // the project whose RECORD lists it
  const RecordRow* row = nullptr;       // as it lists it
  bool in_environment = false;          // in a site folder, not the system's
  bool standard = false;                // a module of Python's own library
  bool module = false;                  // Python can import it
  bool reachable = false;               // a module, or needed by one
  std::optional<MappedFile> file;
  std::optional<Elf> elf;
  std::vector<MachO> slices;  // one per architecture
  std::string broken;         // why it could not be read; empty if it could
  std::vector<const Library*> dependencies;
  std::vector<std::string> missing;               // names that nothing on the search path provides
  std::vector<std::filesystem::path> unloadable;  // found first for a name, and no library: the loader stops

  bool defines(std::string_view symbol) const;
  std::string architectures() const;
};

class Libraries {
 public:
  static Libraries read(const Environment& environment, const System& system);

  const std::vector<std::unique_ptr<Library>>& all() const { return all_; }
  const Library* interpreter() const { return interpreter_; }
  // Whether the system's own libraries are those the environment would run with.
  bool system_known() const { return system_known_; }
  // A library of the environment with this file name or soname; null if there is none.
  const Library* named(std::string_view name) const;
  // `library` and everything it needs, directly or not, in the loader's order.
  std::vector<const Library*> closure(const Library& library) const;
  // The entry of LD_LIBRARY_PATH through which a library of the system is found; empty if it is not.
  static std::string library_path_entry(const Library& library, const System& system);
  static std::string library_path_entry(const std::filesystem::path& file, const System& system);
  // The libpython that the interpreter gets through LD_LIBRARY_PATH instead of its own; null if it gets its
  // own.
  const Library* foreign_libpython(const Environment& environment, const System& system) const;
  // Whether the library's machine is the interpreter's; true where one of them is unknown.
  bool fits_interpreter(const Library& library) const;

 private:
  friend class LibraryReader;
  std::vector<std::unique_ptr<Library>> all_;
  std::unordered_map<std::string, const Library*> by_name_;
  const Library* interpreter_ = nullptr;
  bool system_known_ = false;
};

}  // namespace plimsoll::doctor
