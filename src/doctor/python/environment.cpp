#include "doctor/python/environment.h"

#include "common/file_source.h"
#include "common/zip_reader.h"
#include "doctor/files.h"
#include "doctor/formats/elf.h"
#include "doctor/formats/macho.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/parallel.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

// "3.11" of "python3.11" or "python3.13t"; nothing for other names.
std::optional<Version> version_of_name(std::string name, bool* free_threaded = nullptr) {
  if (!name.starts_with("python3.")) return std::nullopt;
  name.erase(0, 6);
  const bool threaded = name.ends_with('t');
  if (threaded) name.pop_back();
  if (free_threaded) *free_threaded = threaded;
  return Version::parse(name);
}

void find_interpreter(Environment& e, const fs::path& where) {
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(where, ignored))) {
    fail(ErrorKind::not_found, "doctor", "there is nothing at ", where.string());
  }
  if (!is_folder(where)) {
    e.python = where;
    e.prefix = where.parent_path().parent_path();
  } else {
    e.prefix = where;
    e.python = where / "bin/python3";
    if (!is_there(e.python) && is_there(where / "bin/python")) e.python = where / "bin/python";
  }
  e.interpreter = real_path(e.python);
}

void read_pyvenv(Environment& e) {
  const std::optional<std::string> text = read_text(e.prefix / "pyvenv.cfg", 1u << 16);
  if (!text) {
    e.kind = is_folder(e.prefix / "conda-meta") ? Environment::Kind::conda : Environment::Kind::prefix;
    e.base_prefix = e.prefix;
    return;
  }
  e.kind = Environment::Kind::venv;
  const Headers keys = parse_key_values(*text);
  e.base_folder = fs::path(first_of(keys, "home"));
  e.base_prefix = e.base_folder.parent_path();
  e.by_uv = !first_of(keys, "uv").empty();
  std::string_view version = first_of(keys, "version");
  if (version.empty()) version = first_of(keys, "version_info");
  const size_t level = version.find(".final");
  if (const auto parsed = Version::parse(version.substr(0, level))) {
    e.version = *parsed;
    e.exact_version = true;
  }
}

// Version from pyvenv.cfg, else the header patchlevel.h, else the name of the interpreter or library.
void find_version(Environment& e) {
  bool threaded = false;
  std::optional<Version> named = version_of_name(e.interpreter.filename().string(), &threaded);
  for (const fs::path& entry : list_folder(e.prefix / "lib")) {
    bool entry_threaded = false;
    const auto version = version_of_name(entry.filename().string(), &entry_threaded);
    if (!version || !is_folder(entry)) continue;
    const bool wanted =
        e.exact_version ? version->minor() == e.version.minor() : !named || *version == *named;
    if (!wanted && named) continue;
    named = version;
    threaded = entry_threaded;
    if (wanted) break;
  }
  if (!e.exact_version) {
    if (!named) fail(ErrorKind::not_found, "doctor", "no Python environment at ", e.prefix.string());
    e.version = *named;
    const fs::path header = e.base_prefix / "include" / ("python" + named->text()) / "patchlevel.h";
    if (const auto text = read_text(header, 1u << 16)) {
      const size_t at = text->find("PY_VERSION ");
      const size_t open = at == std::string::npos ? at : text->find('"', at);
      const size_t close = open == std::string::npos ? open : text->find('"', open + 1);
      if (close != std::string::npos) {
        if (const auto exact = Version::parse(text->substr(open + 1, close - open - 1))) {
          e.version = *exact;
          e.exact_version = true;
        }
      }
    }
  }
  e.free_threaded = threaded;
  e.major = e.version.major();
  e.minor = e.version.minor();
}

std::string library_name(const Environment& e) {
  return concat("python", e.major, ".", e.minor, e.free_threaded ? "t" : "");
}

void add_site(Environment& e, const fs::path& site) {
  const fs::path resolved = site.empty() ? fs::path() : real_path(site);
  if (resolved.empty() || !is_folder(resolved)) return;
  for (const fs::path& known : e.sites) {
    if (real_path(known) == resolved) return;
  }
  e.sites.push_back(site);
}

void add_prefix_sites(Environment& e, const fs::path& prefix) {
  const std::string name = library_name(e);
  add_site(e, prefix / "lib" / name / "site-packages");
  add_site(e, prefix / "lib64" / name / "site-packages");
  if (real_path(prefix) == "/usr") add_site(e, fs::path("/usr/local/lib") / name / "dist-packages");
  add_site(e, prefix / "lib/python3/dist-packages");
  add_site(e, prefix / "lib" / name / "dist-packages");
}

// Where `pip install --user` puts packages.
fs::path user_site(const Environment& e, const System& system) {
  const fs::path base(system.variable("PYTHONUSERBASE"));
  const fs::path home(system.variable("HOME"));
  if (!base.empty()) return base / "lib" / library_name(e) / "site-packages";
  if (home.empty()) return {};
  if (e.is_macos) {
    const fs::path framework =
        home / "Library/Python" / concat(e.major, ".", e.minor) / "lib/python/site-packages";
    if (is_folder(framework)) return framework;
  }
  return home / ".local/lib" / library_name(e) / "site-packages";
}

void find_sites(Environment& e, const System& system) {
  bool with_system = e.kind != Environment::Kind::venv;
  if (!with_system) {
    const std::optional<std::string> text = read_text(e.prefix / "pyvenv.cfg", 1u << 16);
    const Headers keys = parse_key_values(text.value_or(""));
    with_system = lower_case(first_of(keys, "include-system-site-packages")) == "true";
    add_prefix_sites(e, e.prefix);
  }
  if (with_system) {
    const std::string_view off = system.variable("PYTHONNOUSERSITE");
    if (off.empty()) add_site(e, user_site(e, system));
    add_prefix_sites(e, e.base_prefix);
  }
}

// sys.path: the notebook's folder, PYTHONPATH, the standard library, the sites.
void find_path(Environment& e, const System& system) {
  const std::string own = library_name(e);
  e.path = ImportPath(concat("cpython-", e.major, e.minor, e.free_threaded ? "t" : ""));
  const fs::path folder = system.folder;
  if (system.variable("PYTHONSAFEPATH").empty() && !folder.empty())
    e.path.add({folder, PathEntry::From::folder, "", {}, false, {}});
  for (const std::string_view entry : split(system.variable("PYTHONPATH"), ":")) {
    // Its own standard library is on the path anyway.
    if (entry.empty() || real_path(folder / entry) == real_path(e.standard_library)) continue;
    e.path.add({folder / entry,
                PathEntry::From::variable,
                std::string(entry),
                {},
                leads_to_other_python(std::string(entry) + "/", own),
                {}});
  }
  e.path.add({e.standard_library, PathEntry::From::standard, "", {}, false, {}});
  e.path.add({e.standard_library / "lib-dynload", PathEntry::From::standard, "", {}, false, {}});
  for (const fs::path& site : e.sites) e.path.add_site(site, own);
}

void read_interpreter(Environment& e, const System& system) {
  e.machine = system.machine;
  e.is_macos = system.os == "darwin";
  const std::optional<MappedFile> file = MappedFile::open(e.interpreter);
  if (!file) return;
  try {
    if (Elf::looks_like(file->bytes())) {
      const Elf elf(file->bytes());
      e.is_macos = false;
      e.machine = elf.machine() == 62 ? "x86_64" : elf.machine() == 183 ? "aarch64" : e.machine;
      e.musl = contains(elf.interpreter(), "ld-musl");
    } else if (MachO::looks_like(file->bytes())) {
      e.is_macos = true;
      const std::vector<MachO> slices = MachO::slices(file->bytes());
      e.machine = slices.empty() ? "" : slices.front().cpu_name();
      for (const MachO& slice : slices) {
        if (slice.cpu_name() == "arm64") e.machine = "arm64";
      }
    }
  } catch (const Error&) {
    // A damaged interpreter is found by its own check.
  }
}

void set_markers(Environment& e) {
  e.markers = {{"python_version", concat(e.major, ".", e.minor)},
               {"python_full_version", e.version.text()},
               {"implementation_version", e.version.text()},
               {"os_name", "posix"},
               {"sys_platform", e.is_macos ? "darwin" : "linux"},
               {"platform_system", e.is_macos ? "Darwin" : "Linux"},
               {"platform_machine", e.machine},
               {"platform_python_implementation", "CPython"},
               {"implementation_name", "cpython"},
               {"platform_release", ""},
               {"platform_version", ""}};
}

// The projects in a zip archive on the path.
std::vector<Distribution> archived_distributions(const PathEntry& entry) {
  constexpr uint64_t kLongestMetadata = 1u << 20;
  std::vector<Distribution> all;
  try {
    const ZipReader archive(FileSource::open(entry.folder.string()));
    for (const std::string& name : entry.members) {
      const size_t slash = name.find('/');
      if (!name.ends_with(".dist-info/METADATA") || slash != name.rfind('/')) continue;
      const std::string text = archive.read(*archive.find(name), kLongestMetadata);
      all.push_back(zipped_distribution(entry.folder / name.substr(0, slash), text));
    }
  } catch (const Error&) {
    // Its members are damaged: what it brings cannot be seen.
  }
  return all;
}

void read_distributions(Environment& e) {
  std::vector<fs::path> folders;
  std::vector<Distribution> archived;  // these lie on PYTHONPATH, before the sites
  for (const PathEntry& entry : e.path.entries()) {
    // What another Python's folder holds is not judged one by one: the folder is the finding.
    const bool looked_at = entry.from != PathEntry::From::folder && entry.from != PathEntry::From::standard;
    if (!looked_at || entry.of_other_python) continue;
    if (!entry.members.empty()) {
      for (Distribution& d : archived_distributions(entry)) archived.push_back(std::move(d));
      continue;
    }
    for (const std::string& name : entry.names) {
      if (is_distribution(name)) folders.push_back(entry.folder / name);
    }
  }
  e.distributions.resize(folders.size());
  parallel_for(folders.size(), [&](size_t i) { e.distributions[i] = read_distribution(folders[i]); });
  e.distributions.insert(e.distributions.begin(), archived.begin(), archived.end());
}

// pyenv puts scripts on PATH that look up the version to run.
fs::path through_pyenv(const fs::path& shim, const System& system) {
  const fs::path root = shim.parent_path().parent_path();
  std::string version(system.variable("PYENV_VERSION"));
  if (version.empty()) version = trim(read_text(root / "version", 4096).value_or(""));
  const fs::path python = root / "versions" / std::string(trim(split(version, ":\n ")[0])) / "bin/python3";
  return version.empty() || !is_there(python) ? fs::path() : python;
}

}  // namespace

const Distribution* Environment::find(std::string_view normal) const {
  for (const Distribution& d : distributions) {
    if (d.normal == normal && (d.has_metadata || d.egg)) return &d;
  }
  return nullptr;
}

fs::path Environment::locate(const fs::path& relative) const {
  const std::string first = relative.begin() == relative.end() ? "" : relative.begin()->string();
  for (const PathEntry& entry : path.entries()) {
    const bool looked_at = entry.from != PathEntry::From::folder && entry.from != PathEntry::From::standard;
    if (looked_at && entry.names.contains(first) && is_there(entry.folder / relative))
      return entry.folder / relative;
  }
  return {};
}

std::string Environment::shown() const {
  const char* kinds[] = {"virtual environment", "conda environment", "Python"};
  return concat(prefix.string(), " (", kinds[static_cast<int>(kind)], ", CPython ", version.text(),
                free_threaded ? " free-threaded" : "", ", ",
                is_macos ? "macOS"
                : musl   ? "Linux/musl"
                         : "Linux",
                " ", machine, ")");
}

Environment read_environment(const fs::path& where, const System& system) {
  Environment e;
  find_interpreter(e, where);
  read_pyvenv(e);
  find_version(e);
  if (e.kind == Environment::Kind::prefix && !e.interpreter.empty()) {
    const fs::path target = e.interpreter.parent_path().parent_path();
    const fs::path own = e.prefix / "lib" / library_name(e);
    // Packages without a standard library, and a link to the Python that has one: a venv that lost its
    // pyvenv.cfg.
    if (is_folder(own / "site-packages") && !is_there(own / "os.py") && is_there(e.prefix / "bin/activate")) {
      e.kind = Environment::Kind::venv;
      e.config_lost = true;
      e.base_prefix = target;
    } else if (is_folder(target / "lib" / library_name(e))) {
      // A python3 found on PATH may be a link into another prefix: /usr/local/bin/python3 -> /opt/....
      e.prefix = e.base_prefix = target;
    }
  }
  if (e.base_prefix.empty()) e.base_prefix = e.interpreter.parent_path().parent_path();
  e.standard_library = e.base_prefix / "lib" / library_name(e);
  read_interpreter(e, system);
  find_sites(e, system);
  find_path(e, system);
  set_markers(e);
  read_distributions(e);
  return e;
}

fs::path default_environment(const System& system) {
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const std::string_view value = system.variable(variable); !value.empty()) return value;
  }
  for (const std::string_view folder : split(system.variable("PATH"), ":")) {
    const fs::path python = fs::path(folder) / "python3";
    if (folder.empty() || !is_there(python)) continue;
    if (python.parent_path().filename() != "shims") return python;
    const fs::path behind = through_pyenv(python, system);
    if (!behind.empty()) return behind;
  }
  fail(ErrorKind::not_found, "doctor", "no python3 on PATH: say which environment with --env PATH");
}

}  // namespace plimsoll::doctor
