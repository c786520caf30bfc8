#include "doctor/python/import_follower.h"

#include "doctor/files.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/parallel.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 4000, kLongestFile = 1u << 20;
constexpr size_t kMostParts = 300;  // of one package
constexpr int kDeepestStar = 8;

std::string_view top_of(std::string_view dotted) { return dotted.substr(0, dotted.find('.')); }

bool is_dunder(std::string_view name) { return name.starts_with("__") && name.ends_with("__"); }

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

ImportFollower::Read ImportFollower::read(const fs::path& path) const {
  const std::string text = read_text(path, kLongestFile).value_or("");
  Read result;
  result.source = read_source(text, true);
  // Python 3.12 asks import hooks by find_spec alone.
  result.old_finder = environment_.minor >= 12 && contains(text, "sys.meta_path") &&
                      contains(text, "def find_module(") && !contains(text, "find_spec");
  return result;
}

void ImportFollower::run(const Patience& patience) {
  for (size_t& done = done_; done < files_.size() && done < kMostFiles;) {
    const size_t end = std::min(files_.size(), kMostFiles);
    std::vector<Read> readings(end - done);
    parallel_for(readings.size(), [&](size_t i) {
      if (!patience.over()) readings[i] = read(files_[done + i].path);
    });
    for (size_t i = 0; i < readings.size(); ++i) {
      const File file = files_[done + i];
      if (readings[i].old_finder)
        add({BrokenImport::Kind::old_finder, file.package, file.path, file.package, "", file.on_demand,
             file.path});
      for (const ImportStatement& s : readings[i].source.imports) follow(file, s);
      check_chains(file, readings[i].source);
    }
    done = end;
  }
}

void ImportFollower::visit(const File& file) {
  if (seen_.insert(file.path.string()).second) files_.push_back(file);
}

const Origin& ImportFollower::origin_of(const std::string& top) {
  const auto [it, fresh] = origins_.try_emplace(top);
  if (fresh) it->second = environment_.path.find(top);
  return it->second;
}

void ImportFollower::visit_package(const std::string& name) {
  const Origin& origin = origin_of(name);
  if (!origin || origin.file.extension() != ".py" || origin.entry->from == PathEntry::From::standard ||
      origin.entry->from == PathEntry::From::folder || origin.entry->of_other_python)
    return;
  const fs::path folder = origin.file.parent_path();
  visit({name, origin.kind == Origin::Kind::package ? folder : folder / name, origin.file});
}

void ImportFollower::start_parts(const std::string& package) {
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
  parts.insert(parts.end(), inner_parts.begin(), inner_parts.end());
  if (parts.size() > kMostParts) parts.resize(kMostParts);
  for (const fs::path& part : parts) visit({package, root, part, true});
}

// A module below `folder`.
void ImportFollower::visit_module(const File& by, const fs::path& folder, std::string_view dotted) {
  if (!looked_.insert(concat(folder.string(), "/", dotted)).second) return;
  fs::path path = folder;
  for (const std::string_view part : split(dotted, ".")) {
    path /= part;
    if (const fs::path init = path / "__init__.py"; is_there(init))
      visit({by.package, by.root, init, by.on_demand});
  }
  path += ".py";
  if (is_there(path)) visit({by.package, by.root, path, by.on_demand});
}

bool ImportFollower::is_package(const fs::path& folder) {
  const auto [it, fresh] = packages_.try_emplace(folder.string());
  if (fresh) it->second = is_folder(folder);
  return it->second;
}

void ImportFollower::follow(const File& by, const ImportStatement& s) {
  const std::string top(top_of(s.module));
  if (s.level == 0 && top != by.package) return follow_other(by, s);
  fs::path folder = s.level > 0 ? by.path.parent_path() : by.root;
  for (size_t i = 1; i < s.level; ++i) folder = folder.parent_path();
  const std::string inner =
      s.level > 0 ? s.module : s.module.substr(std::min(s.module.size(), top.size() + 1));
  if (!inner.empty()) visit_module(by, folder, inner);
  for (const std::string_view part : split(inner, ".")) folder /= part;
  if (!is_package(folder)) return;
  for (const std::string& name : s.names) visit_module(by, folder, name);
}

void ImportFollower::follow_other(const File& by, const ImportStatement& s) {
  const std::string top(top_of(s.module));
  if (top.empty() || !asked_.insert(concat(by.package, " ", s.module, " ", join(s.names, ","))).second)
    return;
  if (!is_there_somewhere(top, s.module))
    return add({BrokenImport::Kind::module, by.package, by.path, top, "", by.on_demand, {}});
  visit_package(top);
  const Found found = find_module(s.module);
  if (found.missing)
    return add({BrokenImport::Kind::module, by.package, by.path, found.module, "", by.on_demand, {}});
  if (found.file.empty()) return;
  const Origin& origin = origin_of(top);
  const bool of_python = origin.entry->from == PathEntry::From::standard;
  const File target{top, origin.file.parent_path(), found.file, by.on_demand};
  if (!of_python) visit(target);
  const bool package = found.file.filename() == "__init__.py";
  for (const std::string& name : s.names) {
    if (package && !of_python) visit_module(target, found.file.parent_path(), name);
    if (!has_name(found.file, s.module, name))
      add({BrokenImport::Kind::name, by.package, by.path, s.module, name, by.on_demand, found.file});
  }
}

// a.b.c where `a` is another package: each part is a module, or a name of the one before it.
void ImportFollower::check_chains(const File& by, const SourceReading& source) {
  if (source.chains.empty()) return;
  std::map<std::string, std::string, std::less<>> modules;  // by what they are called here
  for (const ImportStatement& s : source.imports) {
    if (s.level > 0 || s.star || top_of(s.module) == by.package) continue;
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
    if (root == modules.end()) continue;
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
        add({BrokenImport::Kind::name, by.package, by.path, module, part, by.on_demand, found.file});
      break;
    }
  }
}

ImportFollower::Found ImportFollower::find_module(const std::string& dotted) {
  const auto known = modules_.find(dotted);
  if (known != modules_.end()) return known->second;
  return modules_[dotted] = look_for_module(dotted);
}

ImportFollower::Found ImportFollower::look_for_module(const std::string& dotted) {
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
    if (names_of(init).words.contains("__path__")) return {};  // its parts may come from elsewhere
    if (is_there(inner)) {
      folder /= part;
      module += "." + part;
      continue;
    }
    if (const fs::path file = folder / (part + ".py"); is_there(file))
      return last ? Found{false, "", file, {}} : Found{};
    if (has_submodule(folder, part)) return {false, "", {}, last ? find_native(folder, part) : fs::path()};
    const ModuleNames& names = names_of(init);
    if (names.open || names.lazy || !names.stars.empty() || names.words.contains(part)) return {};
    return {true, concat(module, ".", part), {}, {}};
  }
  return {false, "", folder / "__init__.py", {}};
}

const ModuleNames& ImportFollower::names_of(const fs::path& file) {
  std::unique_ptr<ModuleNames>& names = names_[file.string()];
  if (!names) {
    const auto text = read_text(file, 4 * kLongestFile);
    names = std::make_unique<ModuleNames>(read_names(
        text.value_or(""), !is_plain_standard(file.lexically_relative(environment_.standard_library))));
    if (!text) names->open = true;
  }
  return *names;
}

bool ImportFollower::is_expired(const std::string& module, const std::string& name) {
  if (module != "numpy") return false;
  if (!expired_read_) expired_ = expired_numpy_names(environment_);
  expired_read_ = true;
  return expired_.contains(name);
}

bool ImportFollower::has_name(const fs::path& file, const std::string& module, const std::string& name) {
  if (is_expired(module, name)) return false;
  if (is_dunder(name)) return true;
  if (file.filename() == "__init__.py" && has_submodule(file.parent_path(), name)) return true;
  return can_have(file, module, name, 0);
}

// Through `from other import *` as well.
bool ImportFollower::can_have(const fs::path& file, const std::string& module, std::string_view name,
                              int depth) {
  const ModuleNames& names = names_of(file);
  if (names.open || names.words.contains(name) || depth > kDeepestStar) return true;
  if (names.lazy && has_word(names.text, name)) return true;
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

// Whether `from module import *` can bring the name.
bool ImportFollower::can_export(const Found& found, const std::string& module, std::string_view name,
                                int depth) {
  if (!found.native.empty()) {
    // The names that a native module makes are texts in it.
    const std::optional<MappedFile> library = MappedFile::open(found.native);
    constexpr std::string_view kEnd("\0", 1);
    return !library || contains(library->bytes().text(), concat(kEnd, name, kEnd));
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
  if (is_built_in_module(top)) return true;
  // setuptools brings it for Pythons that have dropped it.
  if (top == "distutils" && !environment_.locate("setuptools/_distutils").empty()) return true;
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
