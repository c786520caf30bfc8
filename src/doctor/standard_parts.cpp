#include "doctor/standard_parts.h"

#include "doctor/files.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

constexpr StandardPart kParts[] = {
    {"_ctypes", "ctypes", "libffi-dev"},     {"_ssl", "ssl", "libssl-dev"},
    {"zlib", "zlib", "zlib1g-dev"},          {"_bz2", "bz2", "libbz2-dev"},
    {"_lzma", "lzma", "liblzma-dev"},        {"_sqlite3", "sqlite3", "libsqlite3-dev"},
    {"_curses", "curses", "libncurses-dev"}, {"_tkinter", "tkinter", "tk-dev"},
};

bool has(const std::set<std::string, std::less<>>& names, std::string_view stem) {
  const auto it = names.lower_bound(concat(stem, "."));
  return it != names.end() && it->starts_with(concat(stem, "."));
}

// A module may be part of the program: then the function that makes it is among the program's symbols. (Its
// bare name is no sign: the program has the names of all modules there are.)
bool is_built_in(const Exam& exam, std::string_view name) {
  const Library* program = exam.libraries.interpreter();
  if (!program) return true;
  const std::string function = concat("PyInit_", name);
  for (const Library* l : exam.libraries.closure(*program)) {
    const bool of_python = l == program || contains(l->path.filename().string(), "libpython");
    if (of_python && l->file && contains(l->file->bytes().text(), function)) return true;
  }
  return false;
}

}  // namespace

std::span<const StandardPart> standard_parts() { return kParts; }

std::set<std::string, std::less<>> lost_standard_parts(const Exam& exam) {
  std::set<std::string, std::less<>> files, lost;
  if (exam.system.variable("SETUPTOOLS_USE_DISTUTILS") == "stdlib") lost.insert("distutils");
  const std::filesystem::path& library = exam.environment.standard_library;
  if (!exam.libraries.system_known() || !is_there(library / "os.py")) return lost;
  for (const auto& file : list_folder(library / "lib-dynload")) files.insert(file.filename().string());
  if (files.size() < 10) return lost;  // a build that has them all inside
  for (const StandardPart& part : kParts) {
    if (!has(files, part.name) && !is_built_in(exam, part.name)) lost.insert(part.name);
  }
  return lost;
}

std::string standard_part_fix(const StandardPart& part) {
  return concat("Install the headers (", part.headers, "), then build and install Python again.");
}

}  // namespace plimsoll::doctor
