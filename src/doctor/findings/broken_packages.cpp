// Packages that are no longer what their RECORD says was installed: half removed, overwritten, cut off.
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <map>
#include <set>

#include "doctor/commands.h"
#include "doctor/debian.h"
#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/module_project.h"
#include "doctor/parallel.h"
#include "doctor/python/source.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

bool is_native(std::string_view path) {
  return path.ends_with(".so") || contains(path, ".so.") || path.ends_with(".dylib");
}

// Files people leave out of small images without harm.
bool is_slimmed(std::string_view path) {
  if (path.ends_with(".pyc") || path.starts_with("../") || path.starts_with('/')) return true;
  if (contains(path, ".dist-info/")) return true;
  for (const std::string_view folder :
       {"tests/", "test/", "testing/", "docs/", "doc/", "examples/", "include/"}) {
    if (path.starts_with(folder) || contains(path, concat("/", folder))) return true;
  }
  for (const std::string_view suffix :
       {".pyi", ".typed", ".h", ".hpp", ".pxd", ".pyx", ".c", ".cpp", ".md", ".rst"}) {
    if (path.ends_with(suffix)) return true;
  }
  return false;
}

// Those, and what tools rewrite or no import needs, as a rule: data.
bool dispensable(std::string_view path) {
  return is_slimmed(path) || (!path.ends_with(".py") && !is_native(path));
}

// Pages and templates that Jupyter serves: they lie beside the packages, and it does not start without.
bool is_served(std::string_view path) {
  return path.starts_with("../") &&
         (contains(path, "share/jupyter/nbconvert/templates/") ||
          contains(path, "share/jupyter/lab/static/") || contains(path, "share/jupyter/lab/themes/") ||
          contains(path, "share/jupyter/lab/schemas/"));
}

// Whether a word of a path stands between quotes: "cacert.pem", 'mpl-data/'.
bool is_quoted(std::string_view source, std::string_view word) {
  for (size_t at = source.find(word); at != std::string_view::npos; at = source.find(word, at + 1)) {
    const size_t end = at + word.size();
    const auto ends_name = [](char c) { return c == '"' || c == '\'' || c == '/'; };
    if (at > 0 && end < source.size() && ends_name(source[at - 1]) && ends_name(source[end])) return true;
  }
  return false;
}

// Of data files that are gone those that the package opens: its Python files name the file, or a folder that
// is gone with it. Whoever slims an image does without the rest.
std::vector<std::string> named_in_sources(const Distribution& d, const std::vector<std::string>& gone) {
  constexpr size_t kMostSources = 400, kLongestSource = 1u << 20;
  std::map<std::string, std::vector<std::string>> by_word;  // what would have to be named for which files
  for (const std::string& path : gone) {
    const size_t top = path.find('/');
    const bool data =
        top != std::string::npos && !path.ends_with(".py") && !path.starts_with('.') && !is_slimmed(path);
    if (!data) continue;
    by_word[path.substr(path.rfind('/') + 1)].push_back(path);
    for (size_t slash = path.find('/', top + 1); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      if (is_there(d.site / path.substr(0, slash))) continue;
      const size_t begin = path.rfind('/', slash - 1) + 1;
      by_word[path.substr(begin, slash - begin)].push_back(path);
    }
  }
  std::set<std::string> needed;
  size_t read = 0;
  for (const RecordRow& row : d.record) {
    if (by_word.empty() || read >= kMostSources) break;
    if (!row.path.ends_with(".py") || is_slimmed(row.path)) continue;
    ++read;
    const std::string source = read_text(d.site / row.path, kLongestSource).value_or("");
    std::erase_if(by_word, [&](const auto& entry) {
      if (!is_quoted(source, entry.first)) return false;
      needed.insert(entry.second.begin(), entry.second.end());
      return true;
    });
  }
  return {needed.begin(), needed.end()};
}

// Without it the folder is a name space, which works as well. Projects share such files (nvidia/__init__.py),
// and the one that is removed first takes it along.
bool is_empty_init(const RecordRow& row) { return row.size == 0 && row.path.ends_with("/__init__.py"); }

struct Check {
  std::vector<std::string> gone, gone_dispensable, resized;
  std::vector<std::string> gone_data;  // that its Python files name, or that Jupyter serves
  std::vector<std::string> unusable;   // that Python cannot compile, or that hold nothing any more
  std::vector<std::string> forbidden;  // in a folder that may not be entered
  size_t present = 0, counted = 0;
  std::string debian;  // the Debian package it is of; empty: none
};

// Debian's packages leave out what they can do without, though RECORD lists it: gone is what dpkg put there.
void ask_debian(const Distribution& d, Check& c) {
  if (!is_debians(d.site) || (c.gone.empty() && c.gone_dispensable.empty())) return;
  const std::optional<DebianPackage> package = debian_package_with(d.folder);
  if (!package) return;
  c.debian = package->name;
  for (std::vector<std::string>* list : {&c.gone, &c.gone_dispensable})
    std::erase_if(*list, [&](const std::string& path) { return !package->files.contains(path); });
}

// Of a Python file that has not the size it was installed with; empty if it may do its work.
std::string why_unusable(const std::filesystem::path& file) {
  constexpr size_t kMost = 1u << 20;
  const std::string text = read_text(file, kMost).value_or("");
  if (text.size() >= kMost) return "";  // not read to its end
  return text.empty() ? "it is empty" : syntax_trouble(text);
}

Check check(const Distribution& d) {
  Check c;
  for (const RecordRow& row : d.record) {
    if (row.path.ends_with(".pyc")) continue;
    const bool own_info = contains(row.path, ".dist-info/");
    if (!own_info) ++c.counted;
    struct stat status {};
    if (::stat((d.site / row.path).c_str(), &status) != 0) {
      if (errno == EACCES) {
        c.forbidden.push_back(row.path);
        continue;
      }
      (dispensable(row.path) || is_empty_init(row) ? c.gone_dispensable : c.gone).push_back(row.path);
      continue;
    }
    if (!own_info) ++c.present;
    // Native files are stripped or given new search paths after the wheel was made; whether one is
    // whole, the file itself tells better (damaged_libraries).
    if (!row.size || static_cast<uint64_t>(status.st_size) == *row.size) continue;
    if (dispensable(row.path) || is_native(row.path)) continue;
    if (const std::string why = why_unusable(d.site / row.path); !why.empty())
      c.unusable.push_back(concat(row.path, ": ", why));
    c.resized.push_back(concat(row.path, " (", status.st_size, " bytes, ", *row.size, " recorded)"));
  }
  ask_debian(d, c);
  if (c.present > 0) c.gone_data = named_in_sources(d, c.gone_dispensable);
  std::copy_if(c.gone_dispensable.begin(), c.gone_dispensable.end(), std::back_inserter(c.gone_data),
               is_served);
  return c;
}

void report(const Distribution& d, const Check& c, Findings& findings) {
  const auto add = [&](Severity severity, Sureness sureness, std::string what, std::string seen,
                       std::string leads_to) {
    Finding f{"", severity, sureness, std::move(what), {std::move(seen)}, std::move(leads_to), ""};
    if (c.debian.empty()) {
      f.installs = reinstall(d);
    } else {
      f.fix = "apt-get install --reinstall -y " + c.debian;
    }
    findings.push_back(std::move(f));
  };
  if (!c.forbidden.empty()) {
    std::set<std::string> folders;
    for (const std::string& path : c.forbidden) folders.insert(shell_word(d.site / split(path, "/")[0]));
    findings.push_back(
        {"",
         Severity::error,
         Sureness::certain,
         concat(d.shown(), " may not be read: permission denied for ", c.forbidden.size(), " of its files"),
         {some_of(c.forbidden)},
         "PermissionError or ModuleNotFoundError when it is imported",
         "chmod -R u+rwX,go+rX " + join(folders, " ")});
  } else if (c.counted > 0 && c.present == 0) {
    add(Severity::error, Sureness::certain,
        concat(d.shown(), " is listed as installed, but its files are gone"),
        concat(d.folder.string(), " remains; none of its ", c.counted, " files do"),
        "ModuleNotFoundError, while pip believes that it is installed");
  } else if (!c.gone.empty()) {
    add(Severity::error, Sureness::certain,
        concat(d.shown(), " has lost ", c.gone.size(), " of its ", c.counted, " files"),
        "gone: " + some_of(c.gone), "ImportError or ModuleNotFoundError in the midst of it");
  } else if (!c.gone_data.empty()) {
    add(Severity::error, Sureness::likely,
        concat(d.shown(), " has lost ", c.gone_data.size(), " data files that it opens"),
        "gone: " + some_of(c.gone_data), "FileNotFoundError when it is imported, or at its first use");
  } else if (!c.gone_dispensable.empty() && c.gone_dispensable.size() * 2 > c.counted) {
    add(Severity::note, Sureness::possible, concat(d.shown(), " was slimmed down"),
        "gone: " + some_of(c.gone_dispensable), "Tests, headers or data files are not there.");
  }
  if (!c.unusable.empty()) {
    add(Severity::error, Sureness::certain,
        concat(d.shown(), " is damaged: ", c.unusable.size(), " of its files are empty or no Python"),
        some_of(c.unusable), "SyntaxError, or AttributeError for what was in them, when it is imported");
  } else if (!c.resized.empty()) {
    add(Severity::warning, Sureness::likely,
        concat(d.shown(), " has ", c.resized.size(), " files that are not those it installed"),
        some_of(c.resized),
        "Another package overwrote them, or they were edited: the parts may not fit together.");
  }
}

// Folders of packages and of metadata that this user has no right to look into: what is in them, nobody here
// can tell. Those of projects whose RECORD can be read are told by report().
void unreadable(const Environment& e, Findings& findings) {
  for (const std::filesystem::path& site : e.sites) {
    std::vector<std::string> names, words;
    for (const std::filesystem::path& folder : list_folder(site)) {
      if (!may_not_enter(folder) || owner_of(e, folder / "__init__.py")) continue;
      names.push_back(folder.filename().string());
      words.push_back(shell_word(folder));
    }
    if (names.empty()) continue;
    findings.push_back(
        {"",
         Severity::error,
         Sureness::certain,
         concat("Packages may not be read by this user: ", some_of(names)),
         {concat(site.string(), ": permission denied for ", names.size(), " folders")},
         "PermissionError, ModuleNotFoundError, or a package without attributes, when they are imported",
         concat("chmod -R go+rX ", join(words, " "), "   # as their owner, or as root")});
  }
}

}  // namespace

void find_broken_packages(const Exam& exam, Findings& findings) {
  const auto& distributions = exam.environment.distributions;
  std::vector<Check> checks(distributions.size());
  parallel_for(distributions.size(), [&](size_t i) {
    if (distributions[i].has_record) checks[i] = check(distributions[i]);
  });
  for (size_t i = 0; i < distributions.size(); ++i) {
    if (!distributions[i].editable) report(distributions[i], checks[i], findings);
  }
  unreadable(exam.environment, findings);
}

}  // namespace plimsoll::doctor
