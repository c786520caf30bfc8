#include "doctor/python/import_path.h"

#include <unistd.h>

#include <algorithm>

#include "common/file_source.h"
#include "common/zip_reader.h"
#include "doctor/files.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

// The text between the first pair of quotes after `at`.
std::string literal_after(std::string_view text, size_t at) {
  const size_t open = text.find_first_of("'\"", at);
  if (open == std::string_view::npos) return "";
  const size_t close = text.find(text[open], open + 1);
  return close == std::string_view::npos ? "" : std::string(text.substr(open + 1, close - open - 1));
}

void add_module(std::vector<std::string>& modules, std::string_view name) {
  name = trim(name);
  name = name.substr(0, name.find_first_of(" \t."));
  if (!name.empty()) modules.emplace_back(name);
}

// What Python could import from a zip archive, if this is one.
void list_archive(PathEntry& entry) {
  try {
    const FileSource file = FileSource::open(entry.folder.string());
    if (!ZipReader::looks_like(file)) return;
    const ZipReader archive(file);
    for (const ZipReader::Member& member : archive.members()) {
      const std::string_view name = member.name;
      if (!name.ends_with(".py") && !name.ends_with(".pyc") && !name.ends_with("/METADATA")) continue;
      entry.members.emplace(name);
      entry.names.emplace(name.substr(0, name.find('/')));
    }
  } catch (const Error&) {
    // Python passes over what it cannot read, too.
  }
}

}  // namespace

bool leads_to_other_python(std::string_view path, std::string_view own_python) {
  const size_t at = path.find("/python3.");
  if (at == std::string_view::npos || !contains(path.substr(at), "-packages")) return false;
  return path.substr(at + 1, path.find('/', at + 1) - at - 1) != own_python;
}

bool is_built_in_module(std::string_view name) {
  for (const std::string_view known :
       {"sys",     "builtins",     "time",     "marshal",  "gc",          "itertools", "errno",
        "atexit",  "faulthandler", "pwd",      "posix",    "math",        "cmath",     "array",
        "zlib",    "select",       "fcntl",    "binascii", "unicodedata", "mmap",      "resource",
        "termios", "grp",          "syslog",   "pyexpat",  "audioop",     "nt",        "msvcrt",
        "winreg",  "xxsubtype",    "readline", "spwd",     "nis",         "__main__"}) {
    if (name == known) return true;
  }
  return name.starts_with('_');
}

PthLine parse_pth_line(std::string_view line) {
  PthLine result;
  line = trim(line);
  if (line.empty() || line.front() == '#') return result;
  if (!line.starts_with("import ") && !line.starts_with("import\t")) {
    result.folder = std::string(line);
    return result;
  }
  for (const std::string_view statement : split(line, ";")) {
    const std::string_view s = trim(statement);
    if (s.starts_with("import ")) {
      for (const std::string_view name : split(s.substr(7), ",")) add_module(result.modules, name);
    } else if (s.starts_with("from ")) {
      add_module(result.modules, s.substr(5));
    }
    for (size_t at = s.find("__import__("); at != std::string_view::npos;
         at = s.find("__import__(", at + 1)) {
      add_module(result.modules, literal_after(s, at));
    }
    if (const size_t at = s.find("sys.path.insert("); at != std::string_view::npos)
      result.inserted = literal_after(s, at);
  }
  return result;
}

void ImportPath::add(PathEntry entry) {
  const fs::path resolved = real_path(entry.folder);
  if (resolved.empty()) return;
  if (!is_folder(resolved)) list_archive(entry);
  if (!is_folder(resolved) && entry.members.empty()) return;
  for (const PathEntry& known : entries_) {
    if (real_path(known.folder) == resolved) return;
  }
  for (const fs::path& file : list_folder(entry.folder)) entry.names.insert(file.filename().string());
  // The standard library of a Python, and not of this one: that is added as such, and would have been known.
  if (entry.from != PathEntry::From::standard && entry.names.contains("os.py") &&
      entry.names.contains("encodings"))
    entry.of_other_python = true;
  entries_.push_back(std::move(entry));
}

void ImportPath::add_site(const fs::path& site, std::string_view own_python) {
  add({site, PathEntry::From::site, "", {}, false, {}});
  for (const fs::path& file : list_folder(site)) {
    if (file.extension() != ".pth" || file.filename().string().starts_with('.')) continue;
    PthFile pth{file, {}, {}};
    const std::string content = read_text(file, 1u << 16).value_or("");
    for (const std::string_view text : split(content, "\n")) {
      const PthLine line = parse_pth_line(text);
      pth.modules.insert(pth.modules.end(), line.modules.begin(), line.modules.end());
      const std::string& named = line.folder.empty() ? line.inserted : line.folder;
      if (named.empty()) continue;
      const fs::path folder = (site / named).lexically_normal();
      if (!is_there(folder)) {
        pth.gone.push_back(named);
        continue;
      }
      const size_t before = entries_.size();
      add({folder,
           PathEntry::From::pth,
           named,
           file,
           leads_to_other_python(folder.string() + "/", own_python),
           {}});
      if (entries_.size() > before && !line.inserted.empty())
        std::rotate(entries_.begin(), entries_.end() - 1, entries_.end());
    }
    pth_files_.push_back(std::move(pth));
  }
}

// In the order of Python's own finder: a package, a native module, a source file, a compiled one.
Origin ImportPath::find_in(const PathEntry& entry, std::string_view name) const {
  if (!entry.members.empty()) {
    for (const char* suffix : {"/__init__.py", "/__init__.pyc", ".py", ".pyc"}) {
      const std::string file = std::string(name) + suffix;
      if (!entry.members.contains(file)) continue;
      return {suffix[0] == '/' ? Origin::Kind::package : Origin::Kind::module, entry.folder / file, &entry};
    }
    return {};
  }
  const auto native = [&](const std::set<std::string, std::less<>>& names,
                          std::string_view stem) -> std::string {
    const std::string tagged = std::string(stem) + "." + tag_ + "-";
    if (const auto it = names.lower_bound(tagged); it != names.end() && it->starts_with(tagged)) return *it;
    for (const char* suffix : {".abi3.so", ".so"}) {
      if (const std::string file = std::string(stem) + suffix; names.contains(file)) return file;
    }
    return "";
  };
  const bool folder = entry.names.contains(name) && is_folder(entry.folder / name);
  if (folder) {
    // A folder that may not be entered hides whether it is a package; it is not for us to call it gone.
    if (::access((entry.folder / name).c_str(), R_OK | X_OK) != 0)
      return {Origin::Kind::package, entry.folder / name / "__init__.py", &entry};
    for (const char* init : {"__init__.py", "__init__.pyc"}) {
      const fs::path file = entry.folder / name / init;
      if (is_there(file)) return {Origin::Kind::package, file, &entry};
    }
    std::set<std::string, std::less<>> inner;
    for (const fs::path& file : list_folder(entry.folder / name)) inner.insert(file.filename().string());
    if (const std::string file = native(inner, "__init__"); !file.empty())
      return {Origin::Kind::package, entry.folder / name / file, &entry};
  }
  if (const std::string file = native(entry.names, name); !file.empty())
    return {Origin::Kind::module, entry.folder / file, &entry};
  for (const char* suffix : {".py", ".pyc"}) {
    const std::string file = std::string(name) + suffix;
    if (entry.names.contains(file)) return {Origin::Kind::module, entry.folder / file, &entry};
  }
  if (folder) return {Origin::Kind::name_space, entry.folder / name, &entry};
  return {};
}

Origin ImportPath::find(std::string_view name, size_t from) const {
  Origin space;
  for (size_t i = from; i < entries_.size(); ++i) {
    Origin found = find_in(entries_[i], name);
    if (found && found.kind != Origin::Kind::name_space) return found;
    if (found && !space) space = found;
  }
  return space;
}

}  // namespace plimsoll::doctor
