#include "doctor/libraries.h"

#include <dirent.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_set>

#include "doctor/files.h"
#include "doctor/loader_path.h"
#include "doctor/parallel.h"
#include "doctor/python/text.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

// Deeper than any package goes; a loop of folders ends here.
constexpr int kDeepest = 40;

bool is_native_name(std::string_view name) {
  return name.ends_with(".so") || name.ends_with(".dylib") || contains(name, ".so.");
}

// All native files below `folder`; readdir tells files from folders without a stat for each.
void collect(const fs::path& folder, int depth, std::vector<fs::path>& out) {
  DIR* dir = depth < kDeepest ? ::opendir(folder.c_str()) : nullptr;
  if (!dir) return;
  std::vector<fs::path> folders;
  while (const dirent* entry = ::readdir(dir)) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == ".." || name == "__pycache__" || name.starts_with('~')) continue;
    if (is_native_name(name) && entry->d_type != DT_DIR) {
      out.push_back(folder / name);
    } else if (entry->d_type == DT_DIR) {
      folders.push_back(folder / name);
    } else if (entry->d_type == DT_UNKNOWN && fs::is_directory(fs::symlink_status(folder / name))) {
      folders.push_back(folder / name);
    }
  }
  ::closedir(dir);
  for (const fs::path& f : folders) collect(f, depth + 1, out);
}

void parse(Library& library) {
  library.file = MappedFile::open(library.path);
  if (!library.file) {
    library.broken = "it cannot be read";
    return;
  }
  try {
    const Bytes bytes = library.file->bytes();
    if (bytes.empty()) {
      library.broken = "it is empty";
    } else if (Elf::looks_like(bytes)) {
      library.elf.emplace(bytes);
    } else if (MachO::looks_like(bytes)) {
      library.slices = MachO::slices(bytes);
    }
  } catch (const Error& e) {
    library.broken = e.what();
    library.elf.reset();
    library.slices.clear();
  }
}

bool is_module(const Library& library) {
  const std::string name = library.path.filename().string();
  if (!name.ends_with(".so")) return false;
  if (contains(name, ".cpython-") || name.ends_with(".abi3.so")) return true;
  return library.defines("PyInit_" + name.substr(0, name.find('.')));
}

}  // namespace

bool Library::defines(std::string_view symbol) const {
  if (elf) return elf->defines(symbol);
  const std::string underscored = "_" + std::string(symbol);  // as macOS writes them
  return std::any_of(slices.begin(), slices.end(), [&](const MachO& slice) {
    if (slice.has_export_trie()) return slice.exports(underscored);
    bool found = false;
    slice.for_each_defined([&](std::string_view name) { found |= name == underscored; });
    return found;
  });
}

std::string Library::architectures() const {
  if (elf) return elf_machine_name(elf->machine(), elf->is_64());
  std::vector<std::string> names;
  for (const MachO& slice : slices) names.push_back(slice.cpu_name());
  return join(names, " + ");
}

// Builds a Libraries: first the files of the environment, then what they need, one by one.
class LibraryReader {
 public:
  LibraryReader(const Environment& environment, const System& system, Libraries& out)
      : environment_(environment), system_(system), out_(out) {}

  void run() {
    read_interpreter();
    read_environment();
    const LoaderPath path(environment_, system_,
                          out_.interpreter_ && out_.interpreter_->elf ? &*out_.interpreter_->elf : nullptr);
    // The list grows while it is walked: what is needed is added at its end.
    for (size_t i = 0; i < out_.all_.size(); ++i) link(*out_.all_[i], path);
    mark_reachable();
  }

 private:
  Library& add(std::unique_ptr<Library> library) {
    std::error_code ignored;
    const fs::path canonical = fs::canonical(library->path, ignored);
    by_path_.emplace(canonical.string(), library.get());
    out_.all_.push_back(std::move(library));
    return *out_.all_.back();
  }

  void read_interpreter() {
    if (environment_.interpreter.empty()) return;
    auto library = std::make_unique<Library>();
    library->path = environment_.interpreter;
    library->shown = environment_.interpreter.string();
    parse(*library);
    const bool elf = library->elf.has_value();
    out_.interpreter_ = &add(std::move(library));
    out_.system_known_ = elf && system_.os == "linux" && environment_.machine == system_.machine;
  }

  void read_environment() {
    std::unordered_map<std::string, std::pair<const Distribution*, const RecordRow*>> owners;
    for (const Distribution& d : environment_.distributions) {
      for (const RecordRow& row : d.record) {
        if (is_native_name(row.path))
          owners.try_emplace((d.site / row.path).lexically_normal().string(), &d, &row);
      }
    }
    std::vector<std::unique_ptr<Library>> found;
    const auto add_folder = [&](const fs::path& folder, const fs::path& root, bool standard) {
      std::vector<fs::path> files;
      collect(folder, 0, files);
      std::sort(files.begin(), files.end());
      for (const fs::path& file : files) {
        auto library = std::make_unique<Library>();
        library->path = file;
        library->shown = file.lexically_relative(root).string();
        library->in_environment = true;
        library->standard = standard;
        const auto owner = owners.find(file.lexically_normal().string());
        if (owner != owners.end()) std::tie(library->owner, library->row) = owner->second;
        found.push_back(std::move(library));
      }
    };
    for (const fs::path& site : environment_.sites) add_folder(site, site, false);
    // What wheels put into lib/ of the environment, as intel-openmp does; in an order that stays.
    const std::map<std::string, std::pair<const Distribution*, const RecordRow*>> sorted(owners.begin(),
                                                                                         owners.end());
    for (const auto& [path, owner] : sorted) {
      if (!owner.second->path.starts_with("../") || !is_there(path)) continue;
      auto library = std::make_unique<Library>();
      library->path = path;
      library->shown = fs::path(path).lexically_relative(environment_.prefix).string();
      library->in_environment = true;
      std::tie(library->owner, library->row) = owner;
      found.push_back(std::move(library));
    }
    for (const PathEntry& entry : environment_.path.entries()) {
      const bool linked = entry.from == PathEntry::From::variable || entry.from == PathEntry::From::pth;
      if (!linked || entry.of_other_python) continue;
      // Such a folder may be a whole project with its data: only packages are looked into.
      for (const std::string& name : entry.names) {
        const fs::path inner = entry.folder / name;
        if (is_there(inner / "__init__.py") || name.ends_with(".libs"))
          add_folder(inner, entry.folder, false);
      }
    }
    add_folder(environment_.standard_library / "lib-dynload", environment_.standard_library / "lib-dynload",
               true);
    parallel_for(found.size(), [&](size_t i) {
      parse(*found[i]);
      found[i]->module = is_module(*found[i]);
    });
    for (auto& library : found) {
      Library& kept = add(std::move(library));
      if (kept.standard) continue;
      out_.by_name_.emplace(kept.path.filename().string(), &kept);
      if (kept.elf && !kept.elf->soname().empty()) out_.by_name_.emplace(kept.elf->soname(), &kept);
    }
  }

  void link(Library& library, const LoaderPath& path) {
    if (library.elf && out_.system_known_) {
      for (const std::string_view name : library.elf->needed()) {
        resolve(library, name, path.candidates(name, *library.elf, library.path));
      }
    }
    for (const MachO& slice : library.slices) {
      for (const MachO::Dylib& dylib : slice.dylibs()) {
        // The system's own libraries live in a cache inside macOS, not in files.
        if (dylib.weak || !dylib.name.starts_with('@')) continue;
        resolve(library, dylib.name, path.candidates(dylib.name, slice, library.path));
      }
    }
  }

  // The loader passes over files for other machines; such a one is linked only if there is no better.
  void resolve(Library& library, std::string_view name, const std::vector<fs::path>& candidates) {
    const Library* unfit = nullptr;
    for (const fs::path& candidate : candidates) {
      const Library* found = open(candidate);
      if (!found) {
        if (garbled_.contains(candidate.string())) library.unloadable.push_back(candidate);
        continue;
      }
      if (same_machine(*found, library)) {
        library.dependencies.push_back(found);
        return;
      }
      if (!unfit) unfit = found;
    }
    if (unfit) {
      library.dependencies.push_back(unfit);
      return;
    }
    // Packages often load their libraries by path before they import the modules that need them.
    const std::string file_name = fs::path(name).filename().string();
    if (const Library* elsewhere = out_.named(file_name); elsewhere && elsewhere != &library) {
      library.dependencies.push_back(elsewhere);
      return;
    }
    if (std::find(library.missing.begin(), library.missing.end(), name) == library.missing.end()) {
      library.missing.emplace_back(name);
    }
  }

  static bool same_machine(const Library& a, const Library& b) {
    if (a.elf && b.elf) return a.elf->machine() == b.elf->machine() && a.elf->is_64() == b.elf->is_64();
    return a.elf.has_value() == b.elf.has_value();
  }

  const Library* open(const fs::path& path) {
    const auto seen = opened_.find(path.string());
    if (seen != opened_.end()) return seen->second;
    const Library*& result = opened_[path.string()];
    std::error_code error;
    const fs::path canonical = fs::canonical(path, error);
    if (error) return result = nullptr;
    const auto known = by_path_.find(canonical.string());
    if (known != by_path_.end()) return result = known->second;
    auto library = std::make_unique<Library>();
    library->path = path;
    library->shown = path.string();
    parse(*library);
    if (!library->elf && library->slices.empty()) {
      if (library->file) garbled_.insert(path.string());
      return result = nullptr;
    }
    return result = &add(std::move(library));
  }

  void mark_reachable() {
    std::vector<const Library*> stack;
    for (const auto& library : out_.all_) {
      if (library->module) stack.push_back(library.get());
    }
    std::unordered_set<const Library*> seen(stack.begin(), stack.end());
    while (!stack.empty()) {
      const Library* next = stack.back();
      stack.pop_back();
      for (const Library* d : next->dependencies) {
        if (seen.insert(d).second) stack.push_back(d);
      }
    }
    for (const auto& library : out_.all_) library->reachable = seen.contains(library.get());
  }

  const Environment& environment_;
  const System& system_;
  Libraries& out_;
  std::unordered_map<std::string, const Library*> by_path_, opened_;
  std::unordered_set<std::string> garbled_;  // files that are there and are no libraries
};

Libraries Libraries::read(const Environment& environment, const System& system) {
  Libraries libraries;
  LibraryReader(environment, system, libraries).run();
  return libraries;
}

const Library* Libraries::named(std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  return found == by_name_.end() ? nullptr : found->second;
}

std::vector<const Library*> Libraries::closure(const Library& library) const {
  std::vector<const Library*> order{&library};
  std::unordered_set<const Library*> seen{&library};
  for (size_t i = 0; i < order.size(); ++i) {
    for (const Library* d : order[i]->dependencies) {
      if (seen.insert(d).second) order.push_back(d);
    }
  }
  return order;
}

std::string Libraries::library_path_entry(const Library& library, const System& system) {
  return library.in_environment ? "" : library_path_entry(library.path, system);
}

std::string Libraries::library_path_entry(const fs::path& file, const System& system) {
  const fs::path folder = file.parent_path().lexically_normal();
  for (const std::string_view entry : split(system.variable("LD_LIBRARY_PATH"), ":")) {
    if (!entry.empty() && folder == (fs::path(entry) / "x").parent_path().lexically_normal())
      return std::string(entry);
  }
  return "";
}

const Library* Libraries::foreign_libpython(const Environment& environment, const System& system) const {
  if (!interpreter_) return nullptr;
  for (const Library* d : interpreter_->dependencies) {
    const fs::path name = d->path.filename();
    if (!name.string().starts_with("libpython3") || library_path_entry(*d, system).empty()) continue;
    const fs::path own = real_path(environment.base_prefix / "lib" / name);
    if (!own.empty() && own != real_path(d->path)) return d;
  }
  return nullptr;
}

bool Libraries::fits_interpreter(const Library& library) const {
  if (!interpreter_) return true;
  if (interpreter_->elf) {
    if (!library.elf) return library.slices.empty();
    return library.elf->machine() == interpreter_->elf->machine() &&
           library.elf->is_64() == interpreter_->elf->is_64() &&
           library.elf->big_endian() == interpreter_->elf->big_endian();
  }
  if (interpreter_->slices.empty()) return true;
  if (library.elf) return false;
  // A universal interpreter runs as arm64 where it can; the library must be there for that as well.
  uint32_t wanted = interpreter_->slices.front().cpu_type();
  for (const MachO& slice : interpreter_->slices) {
    if (slice.cpu_name() == "arm64") wanted = slice.cpu_type();
  }
  return library.slices.empty() ||
         std::any_of(library.slices.begin(), library.slices.end(),
                     [&](const MachO& slice) { return slice.cpu_type() == wanted; });
}

}  // namespace plimsoll::doctor
