#include "doctor/python/import_follower.h"

#include <algorithm>

#include "doctor/files.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/module_project.h"
#include "doctor/parallel.h"
#include "doctor/python/dataclass_defaults.h"
#include "doctor/python/text.h"
#include "doctor/removed_names.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 4000, kLongestFile = 1u << 20;
constexpr size_t kMostParts = 300;  // of one package
constexpr int kDeepestStar = 8;
constexpr size_t kMostSought = 3000;   // files of a package that are searched for a name
constexpr size_t kShortestSought = 4;  // shorter names stand anywhere

std::string_view top_of(std::string_view dotted) { return dotted.substr(0, dotted.find('.')); }

// Names that Python gives every module.
bool is_given(std::string_view name) {
  for (const std::string_view given :
       {"__name__", "__file__", "__doc__", "__path__", "__dict__", "__spec__", "__loader__", "__package__",
        "__cached__", "__class__", "__builtins__", "__annotations__", "__all__", "__getattr__", "__dir__"}) {
    if (name == given) return true;
  }
  return false;
}

// A native or compiled module of this name in the folder of a package; empty if there is none.
fs::path find_native(const fs::path& folder, const std::string& name) {
  const std::string start = name + ".";
  for (const fs::path& file : list_folder(folder)) {
    const std::string entry = file.filename().string();
    if (entry.starts_with(start) && (entry.ends_with(".so") || entry.ends_with(".pyc"))) return file;
  }
  return {};
}

// Modules of Python's own that have lost names over the years and that make none in other ways.
bool is_plain_standard(const fs::path& file) {
  for (const std::string_view known :
       {"collections/__init__.py", "inspect.py", "fractions.py", "configparser.py", "pkgutil.py",
        "platform.py", "base64.py", "locale.py", "gettext.py", "cgi.py"}) {
    if (file == known) return true;
  }
  return false;
}

// Whether all names that a native module makes are texts in it that can be searched: so Cython wrote them up
// to version 3.0. Later ones are compressed, Rust's are joined, and others are put together when it runs.
bool shows_its_names(std::string_view library) {
  using namespace std::string_view_literals;
  return contains(library, "\0__main__\0"sv) && contains(library, "\0__test__\0"sv);
}

bool has_submodule(const fs::path& folder, const std::string& name) {
  return is_there(folder / name) || is_there(folder / (name + ".py")) || !find_native(folder, name).empty();
}

}  // namespace

std::set<std::string, std::less<>> expired_numpy_names(const Environment& e) {
  std::set<std::string, std::less<>> names;
  const Distribution* numpy = e.find("numpy");
  if (!numpy || !numpy->version || *numpy->version < *Version::parse("1.24")) return names;
  names = {"object", "float", "complex", "str", "int"};
  if (numpy->version->major() < 2) {
    names.insert("bool");
    return names;
  }
  // __expired_attributes__ = {"product": "Use `np.prod` instead.", ...}
  const fs::path file = e.locate("numpy/_expired_attrs_2_0.py");
  const std::string text = file.empty() ? "" : read_text(file, kLongestFile).value_or("");
  for (const std::string_view line : split(text, "\n")) {
    const std::string_view row = trim(line);
    const size_t end = row.find("\":");
    if (row.starts_with('"') && end != std::string_view::npos) names.emplace(row.substr(1, end - 1));
  }
  return names;
}

ImportFollower::Read ImportFollower::read_text_of(std::string_view text, bool program) const {
  Read result;
  result.source =
      read_source(text, {environment_.major, environment_.minor, environment_.is_macos, true, program});
  // Python 3.12 asks import hooks by find_spec alone.
  result.old_finder = environment_.minor >= 12 && contains(text, "sys.meta_path") &&
                      contains(text, "def find_module(") && !contains(text, "find_spec");
  if (environment_.minor >= 11) result.mutable_default = mutable_dataclass_default(text);
  return result;
}

ImportFollower::Read ImportFollower::read(const fs::path& path) const {
  const std::string text = read_text(path, kLongestFile).value_or("");
  Read result = read_text_of(text);
  if (text.size() >= kLongestFile) result.source.trouble.clear();  // not read to its end
  return result;
}

void ImportFollower::start_program(const std::string& shown, const fs::path& path, std::string_view source) {
  follow_all({shown, path.parent_path() / shown, path}, read_text_of(source, true));
}

void ImportFollower::follow_all(const File& file, const Read& reading) {
  if (reading.old_finder)
    add({BrokenImport::Kind::old_finder, file.package, file.path, file.package, "", file.part, file.path,
         ""});
  if (!reading.mutable_default.empty() && !file.tried)
    add({BrokenImport::Kind::mutable_default, file.package, file.path, "", reading.mutable_default, file.part,
         file.path, ""});
  if (!reading.source.trouble.empty())
    return add({BrokenImport::Kind::syntax, file.package, file.path, "", reading.source.trouble, file.part,
                file.path, ""});
  std::set<int> failed;  // try statements whose imports fail
  for (const ImportStatement& s : reading.source.imports) {
    if (s.fallback >= 0 && !failed.contains(s.fallback)) continue;
    if (!follow(file, s) && s.tried >= 0) failed.insert(s.tried);
  }
  check_chains(file, reading.source, failed);
}

void ImportFollower::run(const Patience& patience) {
  while (done_ < files_.size() && done_ < kMostFiles) {
    const size_t end = std::min(files_.size(), kMostFiles);
    std::vector<Read> readings(end - done_);
    parallel_for(readings.size(), [&](size_t i) {
      if (!patience.over()) readings[i] = read(files_[done_ + i].path);
    });
    for (size_t i = 0; i < readings.size(); ++i) {
      const File file = files_[done_ + i];
      follow_all(file, readings[i]);
    }
    done_ = end;
    if (done_ < files_.size()) continue;
    // What always runs is followed first: a file counts in the stricter way.
    const std::vector<File> tried = std::move(tried_files_);
    tried_files_.clear();
    for (const File& file : tried) {
      if (seen_.insert(file.path.string()).second) files_.push_back(file);
    }
  }
}

void ImportFollower::visit(const File& file) {
  if (file.tried) {
    if (!seen_.contains(file.path.string())) tried_files_.push_back(file);
  } else if (seen_.insert(file.path.string()).second) {
    files_.push_back(file);
  }
}

const Origin& ImportFollower::origin_of(const std::string& top) {
  const auto [it, fresh] = origins_.try_emplace(top);
  if (fresh) it->second = environment_.path.find(top);
  return it->second;
}

void ImportFollower::visit_package(const std::string& name, const File& by) {
  const Origin& origin = origin_of(name);
  if (!origin || origin.file.extension() != ".py" || origin.entry->from == PathEntry::From::standard ||
      origin.entry->from == PathEntry::From::folder || origin.entry->of_other_python)
    return;
  const fs::path folder = origin.file.parent_path();
  visit(
      {name, origin.kind == Origin::Kind::package ? folder : folder / name, origin.file, by.part, by.tried});
}

void ImportFollower::start_parts(const std::string& package, bool inner_parts_too) {
  const Origin& origin = origin_of(package);
  if (origin.kind != Origin::Kind::package || !seen_.contains(origin.file.string())) return;
  const fs::path root = origin.file.parent_path();
  const auto is_public = [](const fs::path& file) {
    const std::string name = file.filename().string();
    return !name.starts_with('_') && !contains(name, "test") && name != "conftest.py" && name != "setup.py";
  };
  std::vector<fs::path> parts, inner_parts;
  for (const fs::path& file : list_folder(root)) {
    if (!is_public(file)) continue;
    if (file.extension() == ".py") parts.push_back(file);
    if (!is_there(file / "__init__.py")) continue;
    parts.push_back(file / "__init__.py");
    for (const fs::path& inner : list_folder(file)) {
      if (is_public(inner) && inner.extension() == ".py") inner_parts.push_back(inner);
    }
  }
  if (inner_parts_too) parts.insert(parts.end(), inner_parts.begin(), inner_parts.end());
  if (parts.size() > kMostParts) parts.resize(kMostParts);
  for (const fs::path& part : parts) {
    fs::path name = package / part.lexically_relative(root).replace_extension();
    if (name.filename() == "__init__") name = name.parent_path();
    std::string dotted = name.string();
    std::replace(dotted.begin(), dotted.end(), '/', '.');
    visit({package, root, part, dotted, false});
  }
}

// A module below `folder`.
void ImportFollower::visit_module(const File& by, const fs::path& folder, std::string_view dotted) {
  if (!looked_.insert(concat(folder.string(), "/", dotted, by.tried ? " tried" : "")).second) return;
  fs::path path = folder;
  for (const std::string_view part : split(dotted, ".")) {
    path /= part;
    if (const fs::path init = path / "__init__.py"; is_there(init))
      visit({by.package, by.root, init, by.part, by.tried});
  }
  path += ".py";
  if (is_there(path)) visit({by.package, by.root, path, by.part, by.tried});
}

bool ImportFollower::is_package(const fs::path& folder) {
  const auto [it, fresh] = packages_.try_emplace(folder.string());
  if (fresh) it->second = is_folder(folder);
  return it->second;
}

// False: the import is sure to fail.
bool ImportFollower::follow(const File& by, const ImportStatement& s) {
  File inside = by;
  inside.tried |= s.tried >= 0;
  const std::string top(top_of(s.module));
  return s.level == 0 && top != by.package ? follow_other(inside, s) : follow_inner(inside, s);
}

bool ImportFollower::follow_inner(const File& by, const ImportStatement& s) {
  fs::path folder = s.level > 0 ? by.path.parent_path() : by.root;
  for (size_t i = 1; i < s.level; ++i) folder = folder.parent_path();
  const std::string inner =
      s.level > 0 ? s.module : s.module.substr(std::min(s.module.size(), top_of(s.module).size() + 1));
  const fs::path home = folder;
  std::string lost;  // the first module on the way that is not there
  for (const std::string_view part : split(inner, ".")) {
    folder /= part;
    if (lost.empty() && !inner.empty() && !is_package(folder) && !is_there(folder.string() + ".py") &&
        find_native(folder.parent_path(), folder.filename().string()).empty())
      lost = folder.filename().string();
  }
  const bool package = is_package(folder);
  if (!lost.empty() && watched_.contains(by.package) && !by.tried)
    add({BrokenImport::Kind::module,
         by.package,
         by.path,
         concat(by.package, ".", lost),
         "",
         by.part,
         {},
         ""});
  if (s.all_caught) return true;
  if (!inner.empty()) visit_module(by, home, inner);
  if (package) {
    for (const std::string& name : s.names) visit_module(by, folder, name);
  }
  return true;
}

bool ImportFollower::follow_other(const File& by, const ImportStatement& s) {
  const std::string key = concat(by.package, " ", s.module, " ", join(s.names, ","));
  const auto [known, fresh] = checked_.try_emplace(key);
  if (fresh) known->second = check_other(by, s);
  if (!by.tried) {
    for (BrokenImport broken : known->second) {
      broken.insisted = s.insisted;
      broken.by = by.path;
      broken.part = by.part;
      add(std::move(broken));
    }
  }
  const std::string top(top_of(s.module));
  const bool fails = !known->second.empty();
  if (top.empty() || s.all_caught || !asked_.insert(concat(key, by.tried ? " tried" : "")).second)
    return !fails;
  visit_package(top, by);
  const Found found = find_module(s.module);
  const Origin& origin = origin_of(top);
  if (found.missing || found.file.empty() || origin.entry->from == PathEntry::From::standard) return !fails;
  const fs::path root = origin.file.parent_path();
  const File target{top, root, found.file, by.part, by.tried};
  if (const size_t dot = s.module.find('.'); dot != std::string::npos)
    visit_module(target, root, std::string_view(s.module).substr(dot + 1));
  visit(target);
  if (found.file.filename() == "__init__.py") {
    for (const std::string& name : s.names) visit_module(target, found.file.parent_path(), name);
  }
  return !fails;
}

// What of an import from another package cannot be found.
std::vector<BrokenImport> ImportFollower::check_other(const File& by, const ImportStatement& s) {
  using Kind = BrokenImport::Kind;
  const std::string top(top_of(s.module));
  if (top.empty()) return {};
  if (!is_there_somewhere(top, s.module)) return {{Kind::module, by.package, by.path, top, "", "", {}, ""}};
  if (const std::string part = lost_native(top); !part.empty())
    return {{Kind::module, by.package, by.path, top, "", "", {}, part}};
  const Found found = find_module(s.module);
  if (found.missing) return {{Kind::module, by.package, by.path, found.module, "", "", {}, ""}};
  std::vector<BrokenImport> broken;
  if (found.file.empty()) return broken;
  for (const std::string& name : s.names) {
    if (!has_name(found.file, s.module, name))
      broken.push_back({Kind::name, by.package, by.path, s.module, name, "", found.file, "", false,
                        shows_all_names(found.file, s.module, name)});
  }
  return broken;
}

// Modules of Python's own library that stand on a native part: where that was left out, they fail.
std::string ImportFollower::lost_native(const std::string& module) {
  if (lost_parts_.contains(module) && module != "distutils") return module;
  const std::string part = concat("_", module);
  return lost_parts_.contains(part) ? part : "";
}

// a.b.c where `a` is another package: each part is a module, or a name of the one before it.
void ImportFollower::check_chains(const File& by, const SourceReading& source, const std::set<int>& failed) {
  if (source.chains.empty()) return;
  std::map<std::string, std::string, std::less<>> modules;  // by what they are called here
  for (const ImportStatement& s : source.imports) {
    if (s.level > 0 || s.star || top_of(s.module) == by.package) continue;
    if (s.fallback >= 0 ? !failed.contains(s.fallback) : failed.contains(s.tried)) continue;
    if (s.names.empty() && !s.bound.empty())
      modules[s.bound[0]] = s.bound[0] == top_of(s.module) ? s.bound[0] : s.module;
    for (size_t i = 0; i < s.names.size(); ++i) {
      const Found found = find_module(s.module);
      const bool package = found.file.filename() == "__init__.py";
      if (package && is_there(found.file.parent_path() / (s.names[i] + ".py")))
        modules[s.bound[i]] = concat(s.module, ".", s.names[i]);
      else if (package && is_there(found.file.parent_path() / s.names[i] / "__init__.py"))
        modules[s.bound[i]] = concat(s.module, ".", s.names[i]);
      else
        modules.erase(s.bound[i]);
    }
  }
  for (const std::string& chain : source.chains) {
    const std::vector<std::string_view> parts = split(chain, ".");
    const auto root = modules.find(parts[0]);
    if (root == modules.end() || source.assigned.contains(parts[0])) continue;
    std::string module = root->second;
    for (size_t i = 1; i < parts.size(); ++i) {
      const Found found = find_module(module);
      if (found.missing || found.file.empty()) break;
      const std::string part(parts[i]);
      const bool package = found.file.filename() == "__init__.py";
      if (package && (is_there(found.file.parent_path() / part) ||
                      is_there(found.file.parent_path() / (part + ".py")))) {
        module += "." + part;
        continue;
      }
      if (!asked_.insert(concat(by.package, " ", module, " . ", part)).second) break;
      if (!has_name(found.file, module, part))
        add({BrokenImport::Kind::name, by.package, by.path, module, part, by.part, found.file, "", false,
             shows_all_names(found.file, module, part)});
      break;
    }
  }
}

ImportFollower::Found ImportFollower::find_module(const std::string& dotted) {
  const auto known = modules_.find(dotted);
  if (known != modules_.end()) return known->second;
  return modules_[dotted] = look_for_module(dotted);
}

ImportFollower::Found ImportFollower::look_for_module(const std::string& name) {
  // requests makes these names at import: they are the package itself.
  constexpr std::string_view kAlias = "requests.packages.";
  const std::string dotted = name.starts_with(kAlias) ? name.substr(kAlias.size()) : name;
  const std::vector<std::string_view> parts = split(dotted, ".");
  const std::string top(parts[0]);
  const Origin& origin = origin_of(top);
  const bool seen = origin && origin.kind != Origin::Kind::name_space && origin.file.extension() == ".py" &&
                    origin.entry->from != PathEntry::From::folder && !origin.entry->of_other_python;
  if (!seen) return {};
  if (origin.kind == Origin::Kind::module)
    return parts.size() == 1 ? Found{false, "", origin.file, {}} : Found{};
  fs::path folder = origin.file.parent_path();
  std::string module = top;
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::string part(parts[i]);
    const fs::path init = folder / "__init__.py", inner = folder / part / "__init__.py";
    const bool last = i + 1 == parts.size();
    if (names_of(init).words.contains("__path__")) {               // its parts may come from elsewhere
      const fs::path api = folder / "api" / part / "__init__.py";  // as in Keras 3
      if (!last || is_there(inner) || !is_there(api) || !contains(names_of(init).text, "api")) return {};
      return {false, "", api, {}};
    }
    if (is_there(inner)) {
      folder /= part;
      module += "." + part;
      continue;
    }
    if (const fs::path file = folder / (part + ".py"); is_there(file))
      return last ? Found{false, "", file, {}} : Found{};
    if (has_submodule(folder, part)) return {false, "", {}, last ? find_native(folder, part) : fs::path()};
    const ModuleNames& names = names_of(init);
    // A name that `import *` brings is no module: an import by its path does not find it.
    if (names.open || names.lazy || names.words.contains(part) || has_import_hook(folder)) return {};
    return {true, concat(module, ".", part), {}, {}};
  }
  return {false, "", folder / "__init__.py", {}};
}

const ModuleNames& ImportFollower::names_of(const fs::path& file) {
  std::unique_ptr<ModuleNames>& names = names_[file.string()];
  if (!names) {
    const auto text = read_text(file, 4 * kLongestFile);
    const fs::path inner = file.lexically_relative(environment_.standard_library);
    const bool standard = !inner.empty() && *inner.begin() != ".." && *inner.begin() != "site-packages";
    names = std::make_unique<ModuleNames>(read_names(text.value_or(""), is_plain_standard(inner)
                                                                            ? ModuleKind::plain_standard
                                                                        : standard ? ModuleKind::standard
                                                                                   : ModuleKind::package));
    if (!text || text->size() >= 4 * kLongestFile) names->open = true;
  }
  return *names;
}

bool ImportFollower::is_expired(const std::string& module, const std::string& name) {
  if (module != "numpy") return false;
  if (!expired_read_) expired_ = expired_numpy_names(environment_);
  expired_read_ = true;
  return expired_.contains(name);
}

// Whether the installed version is one that is known to have the name no more.
bool ImportFollower::is_removed(const std::string& dotted) const {
  const RemovedName removed = removed_name(dotted, environment_.minor);
  const auto had = removed.requirement.empty() ? std::nullopt : Requirement::parse(removed.requirement);
  const Distribution* d = had ? find_project(environment_, normal_name(had->name)) : nullptr;
  return d && d->version && !had->specifiers.contains(*d->version);
}

bool ImportFollower::has_name(const fs::path& file, const std::string& module, const std::string& name) {
  if (is_expired(module, name)) return false;
  if (is_given(name)) return true;
  const bool package = file.filename() == "__init__.py";
  if (package && has_submodule(file.parent_path(), name)) return true;
  return can_have(file, module, name, 0) || (package && has_import_hook(file.parent_path()));
}

// A package whose modules put a hook into sys.meta_path may be another one by the time it is used: tlz.
bool ImportFollower::has_import_hook(const fs::path& folder) {
  const auto [known, fresh] = hooks_.try_emplace(folder.string(), false);
  if (!fresh) return known->second;
  for (const fs::path& file : list_folder(folder)) {
    if (contains(file.stem().string(), "-")) continue;  // no module: pip's __pip-runner__.py
    if (file.extension() == ".py" && contains(read_text(file, kLongestFile).value_or(""), "meta_path"))
      known->second = true;
  }
  return known->second;
}

// Whether all names of a module stand in its text, and none are made when it runs.
bool ImportFollower::shows_all_names(const fs::path& file, const std::string& module,
                                     const std::string& name) {
  const ModuleNames& names = names_of(file);
  return is_expired(module, name) || is_removed(concat(module, ".", name)) ||
         (!names.open && !names.lazy && names.stars.empty());
}

// Through `from other import *` as well.
bool ImportFollower::can_have(const fs::path& file, const std::string& module, std::string_view name,
                              int depth) {
  const ModuleNames& names = names_of(file);
  if (names.words.contains(name) || depth > kDeepestStar) return true;
  for (const std::string& begin : names.beginnings) {
    if (name.starts_with(begin)) return true;
  }
  if ((names.lazy || names.open) && is_removed(concat(module, ".", name))) return false;
  if (names.lazy && has_word(names.text, name)) return true;
  if (names.open && can_make(file, names, module, name)) return true;
  for (const ImportStatement& s : names.stars) {
    std::string target = s.module;
    if (s.level > 0) {
      std::string base = module;
      const size_t up = s.level - (file.filename() == "__init__.py" ? 1 : 0);
      for (size_t i = 0; i < up; ++i) base.resize(std::min(base.size(), base.rfind('.')));
      target = s.module.empty() ? base : concat(base, ".", s.module);
    }
    const Found found = find_module(target);
    if (found.file != file && can_export(found, target, name, depth + 1)) return true;
  }
  return false;
}

// Whether a module that makes names when it runs can make this one: as a rule the name is a text somewhere in
// its package.
bool ImportFollower::can_make(const fs::path& file, const ModuleNames& names, const std::string& module,
                              std::string_view name) {
  if (names.composed || name.size() < kShortestSought || has_word(names.text, name)) return true;
  const Origin& origin = origin_of(std::string(top_of(module)));
  const bool seen =
      origin && origin.kind == Origin::Kind::package && origin.entry->from != PathEntry::From::standard;
  if (!seen || contains(names.text, "__path__")) return true;
  for (const fs::path& native : list_folder(file.parent_path())) {
    const std::string entry = native.filename().string();
    if (contains(entry, ".so") && has_word(names.text, entry.substr(0, entry.find('.')))) return true;
  }
  return is_in_package(origin.file.parent_path(), name);
}

// Whether the word stands in any Python file of a package; tests do not count.
bool ImportFollower::is_in_package(const fs::path& root, std::string_view name) {
  const auto [known, fresh] = in_package_.try_emplace(concat(root.string(), " ", name), true);
  if (!fresh) return known->second;
  size_t files = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(root, error), end; !error && it != end; it.increment(error)) {
    const std::string entry = it->path().filename().string();
    if (entry == "tests" || entry == "__pycache__") {
      it.disable_recursion_pending();
    } else if (entry.ends_with(".py") || entry.ends_with(".pyi")) {
      if (++files > kMostSought) return true;
      if (has_word(read_text(it->path(), 4 * kLongestFile).value_or(""), name)) return true;
    }
  }
  return known->second = static_cast<bool>(error);
}

// Whether `from module import *` can bring the name.
bool ImportFollower::can_export(const Found& found, const std::string& module, std::string_view name,
                                int depth) {
  if (!found.native.empty()) {
    const std::optional<MappedFile> library = MappedFile::open(found.native);
    if (!library || !shows_its_names(library->bytes().text())) return true;
    constexpr std::string_view kEnd("\0", 1);
    return contains(library->bytes().text(), concat(kEnd, name, kEnd));
  }
  if (found.file.empty()) return true;
  const auto& exported = names_of(found.file).exported;
  return exported ? exported->contains(name) : can_have(found.file, module, name, depth);
}

// Packages that an editable install maps to their sources by an import hook.
bool ImportFollower::is_mapped(const std::string& top) {
  for (const Distribution& d : environment_.distributions) {
    for (const RecordRow& row : d.record) {
      if (row.path.starts_with("__editable__") && row.path.ends_with("_finder.py") &&
          contains(read_text(d.site / row.path, kLongestFile).value_or(""), concat("'", top, "'")))
        return true;
    }
  }
  return false;
}

bool ImportFollower::is_there_somewhere(const std::string& top, std::string_view module) {
  const bool dropped = environment_.minor >= 13 && (top == "audioop" || top == "nis" || top == "spwd");
  if (is_built_in_module(top) && !dropped) return true;
  // setuptools brings it for Pythons that have dropped it.
  if (top == "distutils" && !lost_parts_.contains(top) &&
      !environment_.locate("setuptools/_distutils").empty())
    return true;
  const Origin& origin = origin_of(top);
  if (origin.kind != Origin::Kind::name_space) return origin || is_mapped(top);
  // Of a name space the part that is meant must be there.
  const std::vector<std::string_view> parts = split(module, ".");
  return parts.size() < 2 || !environment_.locate(fs::path(top) / parts[1]).empty() ||
         !environment_.locate(fs::path(top) / (std::string(parts[1]) + ".py")).empty();
}

void ImportFollower::add(BrokenImport broken) {
  if (reported_.insert(concat(broken.package, " ", broken.module, " ", broken.name)).second)
    broken_.push_back(std::move(broken));
}

}  // namespace plimsoll::doctor
