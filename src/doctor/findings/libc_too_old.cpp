// Libraries built on a newer system: they need versions of glibc or libstdc++ that are not here.
#include <algorithm>
#include <map>
#include <set>

#include "doctor/commands.h"
#include "doctor/exam.h"
#include "doctor/loader_path.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

const Library* provider_of(const Library& library, std::string_view file) {
  for (const Library* d : library.dependencies) {
    if (d->elf && (d->elf->soname() == file || d->path.filename() == file)) return d;
  }
  return nullptr;
}

// "GLIBC_2.36" of all versions a library offers under the same prefix.
std::string newest(const Elf& elf, std::string_view wanted) {
  const std::string_view prefix = wanted.substr(0, wanted.find_first_of("0123456789"));
  std::optional<Version> best;
  for (const std::string_view version : elf.version_definitions()) {
    if (!version.starts_with(prefix)) continue;
    const auto parsed = Version::parse(version.substr(prefix.size()));
    if (parsed && (!best || *best < *parsed)) best = parsed;
  }
  return best ? concat(prefix, best->text()) : "none";
}

bool lacks_version(const Library& provider, const Elf::VersionNeed& need) {
  const auto& offered = provider.elf->version_definitions();
  return std::find(offered.begin(), offered.end(), need.version) == offered.end();
}

// Versions that libraries need, and that a copy on LD_LIBRARY_PATH, found before the system's, does not have.
struct LostInPath {
  std::set<std::string> versions, libraries;
  const Library* provider = nullptr;
};
using LostFiles = std::map<std::pair<std::string, std::string>, LostInPath>;

void blame_path(const Exam& exam, const std::string& entry, const std::string& file, const LostInPath& lost,
                Findings& findings) {
  findings.push_back(
      {"",
       Severity::error,
       Sureness::certain,
       concat("LD_LIBRARY_PATH puts an older ", file, " before the system's"),
       {concat(lost.provider->shown, " has up to ", newest(*lost.provider->elf, *lost.versions.rbegin()),
               "; needed: ", join(lost.versions, ", ")),
        "needed by " + some_of({lost.libraries.begin(), lost.libraries.end()})},
       concat("ImportError: ", lost.provider->shown, ": version `", *lost.versions.rbegin(), "' not found"),
       without_entry_command(exam, "LD_LIBRARY_PATH", entry)});
}

// An old libstdc++ on the path breaks whatever is started next, also where nothing installed here needs more
// of it.
void warn_of_older_runtime(const Exam& exam, const LostFiles& said, Findings& findings) {
  if (!exam.libraries.system_known()) return;
  System without = exam.system;
  without.environment.erase("LD_LIBRARY_PATH");
  const LoaderPath path(exam.environment, without, nullptr);
  constexpr const char* kFile = "libstdc++.so.6";
  for (const std::string_view entry : split(exam.system.variable("LD_LIBRARY_PATH"), ":")) {
    const std::optional<MappedFile> file =
        entry.empty() ? std::nullopt : MappedFile::open(fs::path(entry) / kFile);
    if (!file || said.contains({std::string(entry), kFile})) continue;
    try {
      const Elf found(file->bytes());
      for (const fs::path& candidate : path.candidates(kFile, found, fs::path(entry) / kFile)) {
        const std::optional<MappedFile> own = MappedFile::open(candidate);
        if (!own) continue;
        const std::string here = newest(found, "GLIBCXX_3"), there = newest(Elf(own->bytes()), "GLIBCXX_3");
        const auto number = [](const std::string& text) {
          return Version::parse(text.substr(text.find('_') + 1));
        };
        if (number(there) && (!number(here) || *number(here) < *number(there))) {
          findings.push_back(
              {"",
               Severity::warning,
               Sureness::likely,
               concat("LD_LIBRARY_PATH puts an older ", kFile, " before the system's"),
               {concat(entry, "/", kFile, " has up to ", here, "; ", candidate.string(), " up to ", there)},
               "ImportError: version `GLIBCXX_...' not found, for packages and programs built here",
               without_entry_command(exam, "LD_LIBRARY_PATH", entry)});
        }
        break;
      }
    } catch (const Error&) {
      // No library at all: the loader passes over it, or says so itself.
    }
  }
}

}  // namespace

void find_libc_too_old(const Exam& exam, Findings& findings) {
  struct Need {
    std::set<std::string> versions;
    std::vector<std::string> libraries;
    const Library* provider = nullptr;
    const Distribution* owner = nullptr;
    bool reachable = false;
  };
  std::map<std::pair<std::string, std::string>, Need> needs;          // by project and needed file
  std::map<std::pair<std::string, std::string>, LostInPath> in_path;  // by entry of LD_LIBRARY_PATH and file
  for (const auto& library : exam.libraries.all()) {
    if (!library->in_environment || !library->elf || !exam.libraries.fits_interpreter(*library)) continue;
    for (const Elf::VersionNeed& need : library->elf->version_needs()) {
      const Library* provider = need.weak ? nullptr : provider_of(*library, need.file);
      if (!provider || !lacks_version(*provider, need)) continue;
      const std::string entry = Libraries::library_path_entry(*provider, exam.system);
      if (!entry.empty()) {
        LostInPath& lost = in_path[{entry, std::string(need.file)}];
        lost.versions.emplace(need.version);
        lost.libraries.insert(library->shown);
        lost.provider = provider;
        continue;
      }
      if (provider->elf->version_definitions().empty()) continue;
      Need& n = needs[{library->owner ? library->owner->shown() : library->shown, std::string(need.file)}];
      n.versions.emplace(need.version);
      if (n.libraries.empty() || n.libraries.back() != library->shown) n.libraries.push_back(library->shown);
      n.provider = provider;
      n.owner = library->owner;
      n.reachable |= library->reachable;
    }
  }
  for (const auto& [key, lost] : in_path) blame_path(exam, key.first, key.second, lost, findings);
  warn_of_older_runtime(exam, in_path, findings);
  for (const auto& [key, n] : needs) {
    const auto& [project, file] = key;
    Finding f;
    f.severity = n.reachable ? Severity::error : Severity::note;
    f.what =
        concat(project, " was built for a newer system: it needs ", join(n.versions, ", "), " of ", file);
    f.evidence = {concat(n.provider->shown, " has up to ", newest(*n.provider->elf, *n.versions.begin())),
                  "needed by " + some_of(n.libraries)};
    f.leads_to = concat("ImportError: ", file, ": version `", *n.versions.rbegin(), "' not found");
    // pip takes a wheel that fits this system, of this version or the next older one that has such.
    f.fix =
        n.owner
            ? InstallCommand{{concat(n.owner->name, "<=", n.owner->version_text)}, false, true, true}.text(
                  exam)
            : "Use an older build of it, or a newer system image.";
    if (file.starts_with("libstdc++") && exam.environment.kind == Environment::Kind::conda) {
      f.fix = concat("conda install -y -p ", shell_word(exam.environment.prefix),
                     " -c conda-forge 'libstdcxx-ng>=13'");
    }
    findings.push_back(f);
  }
}

}  // namespace plimsoll::doctor
