// What failed or interrupted installations leave behind.
#include <map>
#include <set>

#include "doctor/commands.h"
#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

// pip itself, cut in two by an upgrade of it: no pip is there to mend it.
bool has_half_a_pip(const Environment& e, const fs::path& site) {
  const fs::path pip = site / "pip";
  return is_folder(pip) && !e.find("pip") &&
         (!is_there(pip / "__main__.py") || !is_there(pip / "_internal/cli/main.py"));
}

// pip renames a package to ~ackage before it removes it; if that fails, the folder stays.
void half_removed(const Exam& exam, Findings& findings) {
  for (const fs::path& site : exam.environment.sites) {
    std::vector<std::string> names;
    for (const fs::path& entry : list_folder(site)) {
      if (entry.filename().string().starts_with('~')) names.push_back(entry.filename().string());
    }
    if (names.empty()) continue;
    Finding f;
    f.severity = Severity::warning;
    f.what = concat("A removal or upgrade was interrupted: ", names.size(), " folders of it are left");
    f.evidence = {concat(site.string(), ": ", some_of(names))};
    f.leads_to = "WARNING: Ignoring invalid distribution; the package may be half old, half new";
    f.fix = "rm -r";
    for (const std::string& name : names) f.fix += concat(" ", shell_word(site / name));
    if (has_half_a_pip(exam.environment, site)) {
      f.severity = Severity::error;
      f.what = "An upgrade of pip was interrupted: half of pip is gone, and it does not run";
      f.leads_to = "ModuleNotFoundError: No module named 'pip._internal...' whenever pip is started";
      f.fix += concat(" ", shell_word(site / "pip"), " && ", shell_word(exam.environment.python),
                      " -m ensurepip --upgrade");
    }
    findings.push_back(f);
  }
}

void without_metadata(const Exam& exam, Findings& findings) {
  for (const Distribution& d : exam.environment.distributions) {
    if (d.has_metadata || d.egg || may_not_enter(d.folder)) continue;
    Finding f;
    f.severity = Severity::warning;
    f.what = concat(d.name, " has lost its METADATA");
    f.evidence = {d.folder.string()};
    f.leads_to = "pip and importlib.metadata fail on it; an upgrade leaves files of both versions";
    f.fix = "rm -r " + shell_word(d.folder);
    f.installs = {{d.name, "", true}};
    findings.push_back(f);
  }
}

// Metadata and folders of both: files of the one must not stay among those of the other.
std::string remove_both(const Distribution& a, const Distribution& b) {
  std::set<std::string> gone = {shell_word(a.folder), shell_word(b.folder)};
  for (const Distribution* d : {&a, &b}) {
    for (const RecordRow& row : d->record) {
      const std::string top(split(row.path, "/")[0]);
      if (top != ".." && contains(row.path, "/") && normal_name(top) == d->normal)
        gone.insert(shell_word(d->site / top));
    }
  }
  return "rm -rf " + join(gone, " ");
}

bool is_linked(const Exam& exam, const Distribution& d) {
  for (const PathEntry& entry : exam.environment.path.entries()) {
    if (entry.folder == d.site)
      return entry.from == PathEntry::From::variable || entry.from == PathEntry::From::pth;
  }
  return false;
}

void installed_twice(const Exam& exam, Findings& findings) {
  std::map<std::string, std::vector<const Distribution*>> by_name;
  for (const Distribution& d : exam.environment.distributions) by_name[d.normal].push_back(&d);
  for (const auto& [name, copies] : by_name) {
    for (size_t i = 1; i < copies.size(); ++i) {
      const Distribution &first = *copies[0], &other = *copies[i];
      const bool same_site = first.site == other.site;
      const Distribution& newer =
          first.version && other.version && *first.version < *other.version ? other : first;
      // System packages have .egg-info beside .dist-info, and a copy further down the path is shadowed.
      if (same_site && (first.egg || other.egg) && first.version_text == other.version_text) continue;
      const bool local_over_env = !same_site && first.version_text != other.version_text && !first.editable &&
                                  (contains(first.site.string(), "/.local/lib/") || is_linked(exam, first));
      Finding f;
      f.severity = same_site ? Severity::error : local_over_env ? Severity::warning : Severity::note;
      f.sureness = same_site ? Sureness::certain : Sureness::likely;
      f.what = same_site ? concat(first.name, " is installed twice in one place: ", first.version_text,
                                  " and ", other.version_text)
                         : concat(first.shown(), " hides ", other.shown());
      f.evidence = {first.folder.string(), other.folder.string()};
      f.leads_to = same_site ? "Files of two versions are mixed; what works is chance"
                             : "The first on the path is imported, whatever the environment was tested with";
      if (same_site) {
        f.fix = remove_both(first, other);
        f.installs = {{newer.name, "", false}};
      } else {
        f.fix = take_off_path_command(exam, first.site);
        if (f.fix.empty()) f.fix = "Remove one of them.";
      }
      findings.push_back(f);
    }
  }
}

// An empty shell of a package is imported without an error and then has no attributes.
void hollow(const Exam& exam, Findings& findings) {
  for (const char* name :
       {"tensorflow", "keras", "torch", "jax", "numpy", "scipy", "pandas", "h5py", "sklearn"}) {
    const fs::path folder = exam.environment.locate(name);
    if (folder.empty() || !is_folder(folder) || may_not_enter(folder) || is_there(folder / "__init__.py"))
      continue;
    bool module = false;
    for (const fs::path& entry : list_folder(folder))
      module |= entry.filename().string().starts_with("__init__.");
    if (module) continue;
    Finding f;
    f.severity = Severity::error;
    f.what = concat(name, " is an empty shell: its folder is there, its __init__.py is not");
    f.evidence = {folder.string()};
    f.leads_to = concat("AttributeError: module '", name, "' has no attribute ...");
    f.fix = "rm -r " + shell_word(folder);
    const std::string project = std::string_view(name) == "sklearn" ? "scikit-learn" : name;
    f.installs = {{project, "", exam.environment.find(project) != nullptr}};
    findings.push_back(f);
  }
}

}  // namespace

void find_leftovers(const Exam& exam, Findings& findings) {
  half_removed(exam, findings);
  without_metadata(exam, findings);
  installed_twice(exam, findings);
  hollow(exam, findings);
}

}  // namespace plimsoll::doctor
