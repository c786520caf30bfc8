// Packages that are installed and will not be imported, because something before them on sys.path has their
// name.
#include <algorithm>
#include <set>

#include "doctor/commands.h"
#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;
using From = PathEntry::From;

// Names that people give their own files, and that careless projects install beside themselves.
bool is_everyday_name(std::string_view name) {
  for (const std::string_view everyday :
       {"test",  "tests",  "docs",  "examples",   "example", "setup",      "conftest",
        "utils", "util",   "src",   "scripts",    "config",  "main",       "data",
        "this",  "turtle", "tools", "benchmarks", "build",   "__pycache__"}) {
    if (name == everyday) return true;
  }
  return name.starts_with('_');
}

// Built into the interpreter: found before any file.
bool is_built_in(std::string_view name) {
  for (const std::string_view built_in :
       {"sys",          "builtins",  "time",        "marshal", "gc",        "itertools", "errno", "atexit",
        "faulthandler", "pwd",       "posix",       "abc",     "codecs",    "io",        "os",    "site",
        "stat",         "posixpath", "genericpath", "ntpath",  "importlib", "zipimport", "runpy"}) {
    if (name == built_in) return true;
  }
  return false;
}

std::string how_it_got_there(const PathEntry& entry) {
  switch (entry.from) {
    case From::folder: return "it lies in the folder of the notebook, where Python looks first";
    case From::variable: return "PYTHONPATH holds " + entry.written;
    case From::pth: return entry.pth.string() + " holds " + entry.written;
    default: return entry.folder.string() + " comes first";
  }
}

std::string undo(const Exam& exam, const Origin& origin) {
  const PathEntry& entry = *origin.entry;
  if (entry.from == From::variable) return without_entry_command(exam, "PYTHONPATH", entry.written);
  if (entry.from == From::pth) return "rm " + shell_word(entry.pth);
  const fs::path what = origin.kind == Origin::Kind::package ? origin.file.parent_path() : origin.file;
  return concat("mv ", shell_word(what), " ",
                shell_word(what.parent_path() / ("my_" + what.filename().string())));
}

void add(const Exam& exam, const Origin& origin, std::string_view name, const std::string& hidden,
         Severity severity, Findings& findings) {
  findings.push_back(
      {"",
       severity,
       Sureness::certain,
       concat("`import ", name, "` finds ", origin.file.string(), ", which hides ", hidden),
       {how_it_got_there(*origin.entry)},
       concat("AttributeError: module '", name, "' has no attribute ..., or a circular import"),
       undo(exam, origin)});
}

// The modules and packages at the top of a project, name spaces (google of protobuf) among them.
std::set<std::string> top_names(const Distribution& d) {
  std::set<std::string> names;
  for (const RecordRow& row : d.record) {
    const size_t slash = row.path.find('/');
    if (slash == std::string::npos) {
      if (row.path.ends_with(".py")) names.insert(row.path.substr(0, row.path.size() - 3));
    } else if (row.path.ends_with("/__init__.py")) {
      names.insert(row.path.substr(0, slash));
    }
  }
  return names;
}

bool owned_by(const Environment& e, const Origin& origin, const std::string& normal) {
  return std::any_of(e.distributions.begin(), e.distributions.end(), [&](const Distribution& d) {
    return d.normal == normal && d.site == origin.entry->folder;
  });
}

// A folder with the sources of the package itself: someone works on it, and knows.
bool is_checkout(const fs::path& folder) {
  return is_there(folder / "pyproject.toml") || is_there(folder / "setup.py");
}

// Whether sources in `folder` have native modules too, if the installed package has.
bool is_built(const Distribution& d, const fs::path& folder, const std::string& name) {
  bool native = false;
  for (const RecordRow& row : d.record) {
    if (!row.path.starts_with(name + "/") || !row.path.ends_with(".so")) continue;
    native = true;
    const fs::path place = (folder / row.path).parent_path();
    for (const fs::path& file : list_folder(place)) {
      if (file.extension() == ".so") return true;
    }
  }
  return !native;
}

void hidden_projects(const Exam& exam, Findings& findings) {
  const Environment& e = exam.environment;
  for (const Distribution& d : e.distributions) {
    if (d.editable || e.find(d.normal) != &d) continue;
    for (const std::string& name : top_names(d)) {
      if (is_everyday_name(name)) continue;
      const Origin origin = e.path.find(name);
      if (!origin || origin.kind == Origin::Kind::name_space || origin.entry->folder == d.site) continue;
      if (real_path(origin.entry->folder) == real_path(d.site) || owned_by(e, origin, d.normal)) continue;
      // A backport: Python's own comes first, and does. Another Python's packages are a finding of their own.
      if (origin.entry->from == From::standard || origin.entry->of_other_python) continue;
      const bool checkout = origin.kind == Origin::Kind::package && is_checkout(origin.entry->folder);
      const bool built = !checkout || is_built(d, origin.entry->folder, name);
      add(exam, origin, name, d.shown(), checkout && built ? Severity::note : Severity::error, findings);
      if (built) continue;
      const std::string folder = origin.entry->folder.string();
      findings.back().evidence.push_back(folder +
                                         " holds its sources, without the native modules that a build makes");
      findings.back().leads_to = "ImportError: you should not try to import it from its source directory";
      if (origin.entry->from == From::folder)
        findings.back().fix =
            concat("cd /   # or another folder than ", folder, ": start the notebook there");
    }
  }
}

// random.py beside a notebook is imported by NumPy in place of Python's own.
void hidden_standard_modules(const Exam& exam, Findings& findings) {
  const Environment& e = exam.environment;
  const auto& entries = e.path.entries();
  size_t standard = 0;
  while (standard < entries.size() && entries[standard].from != From::standard) ++standard;
  for (size_t i = 0; i < standard; ++i) {
    if (entries[i].of_other_python) continue;
    for (const std::string& file : entries[i].names) {
      const std::string name = file.substr(0, file.find('.'));
      if (is_everyday_name(name) || is_built_in(name)) continue;
      const bool module = file == name + ".py" || file == name + ".pyc";
      if (!module && (file != name || !is_there(entries[i].folder / name / "__init__.py"))) continue;
      const Origin own = e.path.find(name, standard);
      if (!own || own.entry->from != From::standard || own.kind == Origin::Kind::name_space) continue;
      const Origin first = e.path.find(name);
      if (first.entry == &entries[i])
        add(exam, first, name, "the module of Python's own library", Severity::error, findings);
    }
  }
}

}  // namespace

void find_hidden_packages(const Exam& exam, Findings& findings) {
  hidden_projects(exam, findings);
  hidden_standard_modules(exam, findings);
}

}  // namespace plimsoll::doctor
