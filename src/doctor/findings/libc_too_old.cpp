// Libraries built on a newer system: they need versions of glibc or libstdc++ that are not here.
#include <algorithm>
#include <map>
#include <set>

#include "doctor/exam.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

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

}  // namespace

void find_libc_too_old(const Exam& exam, Findings& findings) {
  struct Need {
    std::set<std::string> versions;
    std::vector<std::string> libraries;
    const Library* provider = nullptr;
    const Distribution* owner = nullptr;
    bool reachable = false;
  };
  std::map<std::pair<std::string, std::string>, Need> needs;  // by project and needed file
  for (const auto& library : exam.libraries.all()) {
    if (!library->in_environment || !library->elf || !exam.libraries.fits_interpreter(*library)) continue;
    for (const Elf::VersionNeed& need : library->elf->version_needs()) {
      const Library* provider = need.weak ? nullptr : provider_of(*library, need.file);
      if (!provider || provider->elf->version_definitions().empty()) continue;
      const auto& offered = provider->elf->version_definitions();
      if (std::find(offered.begin(), offered.end(), need.version) != offered.end()) continue;
      Need& n = needs[{library->owner ? library->owner->shown() : library->shown, std::string(need.file)}];
      n.versions.emplace(need.version);
      if (n.libraries.empty() || n.libraries.back() != library->shown) n.libraries.push_back(library->shown);
      n.provider = provider;
      n.owner = library->owner;
      n.reachable |= library->reachable;
    }
  }
  for (const auto& [key, n] : needs) {
    const auto& [project, file] = key;
    Finding f;
    f.severity = n.reachable ? Severity::error : Severity::note;
    f.what =
        concat(project, " was built for a newer system: it needs ", join(n.versions, ", "), " of ", file);
    f.evidence = {concat(n.provider->shown, " has up to ", newest(*n.provider->elf, *n.versions.begin())),
                  "needed by " + some_of(n.libraries)};
    f.leads_to = concat("ImportError: ", file, ": version `", *n.versions.rbegin(), "' not found");
    f.fix = n.owner ? concat(exam.environment.pip(), " install --only-binary :all: --force-reinstall '",
                             n.owner->name, "<", n.owner->version_text, "'")
                    : "Use an older build of it, or a newer system image.";
    if (file.starts_with("libstdc++") && exam.environment.kind == Environment::Kind::conda) {
      f.fix = "conda install -c conda-forge 'libstdcxx-ng>=13'";
    }
    findings.push_back(f);
  }
}

}  // namespace plimsoll::doctor
