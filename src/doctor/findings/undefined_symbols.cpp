// Functions that a native library expects from others and that no library provides. This predicts
// plug-ins built for another version of their framework, without a table of versions.
#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_set>

#include "doctor/abandoned.h"
#include "doctor/exam.h"
#include "doctor/parallel.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

struct Unresolved {
  const Library* library = nullptr;
  std::vector<std::string> symbols;
  bool of_python = false;
};

std::string readable(std::string symbol) {
  if (symbol.starts_with("__Z")) symbol.erase(0, 1);  // macOS puts one more underscore in front
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  const std::string full = status == 0 && name ? name.get() : symbol;
  return full.size() > 160 ? full.substr(0, 157) + "..." : full;
}

// A library nothing imports is still loaded if it builds on another project's: that is a plug-in.
bool is_plug_in(const Library& library) {
  if (contains(lower_case(library.shown), "plugin")) return true;
  for (const Library* d : library.dependencies) {
    if (d->owner && library.owner && d->owner != library.owner) return true;
  }
  return false;
}

bool any_missing(const std::vector<const Library*>& closure) {
  return std::any_of(closure.begin(), closure.end(), [](const Library* l) { return !l->missing.empty(); });
}

// Whether one of them offers none of the versions that another wants of it (libc_too_old).
bool any_too_old(const std::vector<const Library*>& closure) {
  for (const Library* l : closure) {
    if (!l->elf) continue;
    for (const Elf::VersionNeed& need : l->elf->version_needs()) {
      if (need.weak) continue;
      for (const Library* d : l->dependencies) {
        if (!d->elf || d->in_environment || d->elf->soname() != need.file) continue;
        const auto& offered = d->elf->version_definitions();
        if (std::find(offered.begin(), offered.end(), need.version) == offered.end()) return true;
      }
    }
  }
  return false;
}

Unresolved check_elf(const Exam& exam, const Library& library, const std::vector<const Library*>& program) {
  Unresolved result{&library, {}, false};
  std::vector<const Library*> scope = exam.libraries.closure(library);
  if (any_missing(scope) || any_too_old(scope))
    return result;  // reported as such; its symbols cannot be known
  scope.insert(scope.end(), program.begin(), program.end());
  library.elf->for_each_undefined([&](std::string_view name, bool weak) {
    if (weak) return;
    const uint32_t hash = Elf::hash(name);
    const auto provides = [&](const Library* l) { return l->elf && l->elf->defines(name, hash); };
    if (std::any_of(scope.begin(), scope.end(), provides)) return;
    // Loaded earlier by somebody else, perhaps: whatever any library of the environment has, counts.
    for (const auto& other : exam.libraries.all()) {
      if (provides(other.get())) return;
    }
    result.symbols.emplace_back(name);
    result.of_python |= name.starts_with("Py") || name.starts_with("_Py");
  });
  return result;
}

// What a Mach-O library and those behind it export, searched by name.
class Exports {
 public:
  Exports(const Exam& exam, const Library& provider) {
    for (const Library* l : exam.libraries.closure(provider)) {
      for (const MachO& s : l->slices) {
        for (const MachO::Dylib& d : s.dylibs()) reexports_ |= d.reexported && !d.name.starts_with('@');
        if (s.has_export_trie())
          tries_.push_back(&s);
        else
          s.for_each_defined([&](std::string_view symbol) { symbols_.insert(symbol); });
      }
    }
  }
  // Symbols of the system's libraries pass through it: what it has cannot be known.
  bool open_ended() const { return reexports_; }
  bool has(std::string_view symbol) const {
    return symbols_.contains(symbol) ||
           std::any_of(tries_.begin(), tries_.end(), [&](const MachO* s) { return s->exports(symbol); });
  }

 private:
  std::vector<const MachO*> tries_;
  std::unordered_set<std::string_view> symbols_;
  bool reexports_ = false;
};

// Each undefined symbol of a Mach-O file names the library it must come from.
Unresolved check_macho(const Exam& exam, const Library& library) {
  Unresolved result{&library, {}, false};
  if (library.slices.empty() || !library.missing.empty()) return result;
  const MachO& slice = library.slices.front();
  std::vector<std::optional<Exports>> providers(slice.dylibs().size());
  for (size_t i = 0; i < providers.size(); ++i) {
    const std::string name = std::filesystem::path(slice.dylibs()[i].name).filename().string();
    // What one project brings was built together, and what lies outside is macOS's own.
    if (!slice.dylibs()[i].name.starts_with('@')) continue;
    for (const Library* d : library.dependencies) {
      if (d->path.filename() == name && !d->slices.empty() && d->owner != library.owner)
        providers[i].emplace(exam, *d);
    }
  }
  slice.for_each_undefined([&](std::string_view symbol, bool weak, unsigned from) {
    if (weak || from == 0 || from > providers.size()) return;
    const std::optional<Exports>& provider = providers[from - 1];
    if (provider && !provider->open_ended() && !provider->has(symbol)) result.symbols.emplace_back(symbol);
  });
  return result;
}

// The projects whose libraries these build on.
std::vector<std::string> providers_of(const std::vector<const Unresolved*>& group) {
  std::set<std::string> names;
  for (const Unresolved* u : group) {
    for (const Library* d : u->library->dependencies) {
      if (d->owner && d->owner != u->library->owner) names.insert(d->owner->shown());
    }
  }
  return {names.begin(), names.end()};
}

// TensorFlow loads whatever lies in this folder; it does without.
bool is_loaded_unasked(const Library& library) { return library.shown.starts_with("tensorflow-plugins/"); }

// Compiled on this machine, against what was installed then.
bool built_here(const Distribution& d) {
  return std::any_of(d.tags.begin(), d.tags.end(),
                     [](const WheelTag& tag) { return tag.platform.starts_with("linux_"); });
}

// tensorflow-text shares the first two numbers of its version with TensorFlow.
std::string partner_version(const Exam& exam, const Distribution& d) {
  if (d.normal != "tensorflow-text") return "";
  for (const char* name : {"tensorflow", "tensorflow-cpu", "tensorflow-macos"}) {
    const Distribution* tensorflow = exam.environment.find(name);
    if (tensorflow && tensorflow->version)
      return concat("==", tensorflow->version->major(), ".", tensorflow->version->minor(), ".*");
  }
  return "";
}

// A project whose library is built upon and whose version somebody's requirement forbids: that one is wrong.
std::optional<Finding::Install> forbidden_provider(const Exam& exam,
                                                   const std::vector<const Unresolved*>& group) {
  for (const Unresolved* u : group) {
    for (const Library* d : u->library->dependencies) {
      if (!d->owner || d->owner == u->library->owner || !d->owner->version) continue;
      for (const Distribution& by : exam.environment.distributions) {
        for (const Requirement& r : by.requires_dist) {
          const bool applies =
              r.marker.empty() || marker_holds(r.marker, exam.environment.markers).value_or(false);
          if (applies && normal_name(r.name) == d->owner->normal &&
              !r.specifiers.contains(*d->owner->version))
            return Finding::Install{d->owner->name + r.specifiers.text(), by.normal, false};
        }
      }
    }
  }
  return std::nullopt;
}

// NVIDIA's libraries only ever gain functions: of two that do not fit the one that lacks some is too old.
std::optional<Finding::Install> older_provider(const std::vector<const Unresolved*>& group) {
  for (const Unresolved* u : group) {
    for (const Library* d : u->library->dependencies) {
      const bool of_nvidia = d->owner && d->owner != u->library->owner && d->owner->version &&
                             d->owner->normal.starts_with("nvidia-");
      if (of_nvidia) return Finding::Install{concat(d->owner->name, ">", d->owner->version_text), "", false};
    }
  }
  return std::nullopt;
}

// The same version again would be the same mismatch, unless it was compiled here or for another Python.
void remedy(const Exam& exam, const std::vector<const Unresolved*>& group, bool of_python, Finding& f) {
  const Distribution& owner = *group.front()->library->owner;
  const bool unasked = std::all_of(group.begin(), group.end(),
                                   [](const Unresolved* u) { return is_loaded_unasked(*u->library); });
  if (unasked || is_abandoned(owner)) {
    f.removes = {owner.name};
  } else if (const auto provider = forbidden_provider(exam, group)) {
    f.installs = {*provider};
  } else if (const auto old = older_provider(group); old && !of_python) {
    f.installs = {*old};
  } else if (of_python || built_here(owner)) {
    f.installs = reinstall(owner);
  } else {
    const std::string partner = partner_version(exam, owner);
    f.installs = {{owner.name + (partner.empty() ? "!=" + owner.version_text : partner), "", false}};
  }
}

// One finding for all libraries of a project that lack something.
Finding describe(const Exam& exam, const std::vector<const Unresolved*>& group) {
  const Library& first = *group.front()->library;
  std::vector<std::string> libraries;
  bool loaded = false, module = false, of_python = false;
  for (const Unresolved* u : group) {
    libraries.push_back(u->library->shown);
    loaded |= u->library->reachable || is_plug_in(*u->library);
    module |= u->library->module;
    of_python |= u->of_python;
  }
  const std::vector<std::string>& symbols = group.front()->symbols;
  std::vector<std::string> names;
  for (const std::string& symbol : symbols) names.push_back(readable(symbol));
  const std::vector<std::string> providers = providers_of(group);
  const std::string own = first.owner ? first.owner->shown() : first.shown;
  Finding f;
  f.severity = loaded ? Severity::error : Severity::note;
  f.sureness = module ? Sureness::certain : loaded ? Sureness::likely : Sureness::possible;
  if (of_python) {
    f.what = concat(own, " was built for another version of Python than ", exam.environment.version.text());
  } else if (!providers.empty()) {
    f.what = concat(own, " does not fit ", some_of(providers), ": it expects what that does not have");
  } else {
    f.what = concat(own, " needs symbols that no library provides");
  }
  f.evidence = {concat("in ", some_of(libraries, 3)), concat("undefined: ", some_of(names, 3))};
  f.leads_to =
      concat("ImportError: ", first.path.filename().string(), ": undefined symbol: ", symbols.front());
  if (first.owner)
    remedy(exam, group, of_python, f);
  else
    f.fix = "Install a build of it that fits.";
  return f;
}

}  // namespace

void find_undefined_symbols(const Exam& exam, Findings& findings) {
  if (exam.libraries.foreign_libpython(exam.environment, exam.system)) return;  // python_path speaks of it
  std::vector<const Library*> program;
  if (exam.libraries.interpreter()) program = exam.libraries.closure(*exam.libraries.interpreter());
  const auto& all = exam.libraries.all();
  std::vector<Unresolved> results(all.size());
  parallel_for(all.size(), [&](size_t i) {
    const Library& library = *all[i];
    if (!library.in_environment || !exam.libraries.fits_interpreter(library)) return;
    try {
      if (library.elf && exam.libraries.system_known()) results[i] = check_elf(exam, library, program);
      if (!library.slices.empty()) results[i] = check_macho(exam, library);
    } catch (const Error&) {
      // A garbled symbol table: damaged_libraries speaks of files that are cut off.
    }
  });
  std::map<std::string, std::vector<const Unresolved*>> groups;  // by project
  for (const Unresolved& u : results) {
    if (u.symbols.empty()) continue;
    groups[u.library->owner ? u.library->owner->folder.string() : u.library->path.string()].push_back(&u);
  }
  for (const auto& [project, group] : groups) findings.push_back(describe(exam, group));
}

}  // namespace plimsoll::doctor
