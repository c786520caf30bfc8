// Compiled leftovers of another version that are, or could be, used in place of what is installed.
#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

// Extensions that PyTorch compiles go to .../torch_extensions/py311_cu121; another Python's are never used.
void torch_extensions(const Exam& exam, Findings& findings) {
  fs::path root(exam.system.variable("TORCH_EXTENSIONS_DIR"));
  if (root.empty()) {
    const fs::path cache(exam.system.variable("XDG_CACHE_HOME"));
    const fs::path home(exam.system.variable("HOME"));
    root = (cache.empty() ? home / ".cache" : cache) / "torch_extensions";
  }
  const std::string own = concat("py", exam.environment.major, exam.environment.minor);
  std::vector<std::string> stale;
  for (const fs::path& entry : list_folder(root)) {
    const std::string name = entry.filename().string();
    if (name.starts_with("py") && name.substr(0, name.find('_')) != own) stale.push_back(name);
  }
  if (stale.empty()) return;
  findings.push_back({"",
                      Severity::note,
                      Sureness::certain,
                      "PyTorch keeps compiled extensions for other Pythons",
                      {concat(root.string(), ": ", some_of(stale))},
                      "Nothing but lost space",
                      concat("rm -r ", root.string(), "/", stale.front())});
}

// A .pyc in the place of a source file is imported when the source is gone: an old version lives on.
void orphaned_modules(const Exam& exam, Findings& findings) {
  for (const fs::path& site : exam.environment.sites) {
    std::vector<std::string> orphans;
    for (const fs::path& entry : list_folder(site)) {
      if (entry.extension() == ".pyc" && !is_there(fs::path(entry).replace_extension(".py"))) {
        orphans.push_back(entry.filename().string());
      }
    }
    if (orphans.empty()) continue;
    findings.push_back({"",
                        Severity::warning,
                        Sureness::likely,
                        concat(orphans.size(), " compiled modules have no source any more"),
                        {concat(site.string(), ": ", some_of(orphans))},
                        "They are imported all the same, in whatever version they once were",
                        concat("rm ", site.string(), "/*.pyc")});
  }
}

// The minor version of the Python 3 that wrote a compiled file, by the number at its beginning; 0: not known.
uint64_t minor_of_magic(unsigned magic) {
  const std::pair<unsigned, uint64_t> first[] = {{3390, 7},  {3400, 8},  {3420, 9},  {3430, 10},
                                                 {3450, 11}, {3500, 12}, {3550, 13}, {3600, 14}};
  uint64_t minor = 0;
  for (const auto& [number, of] : first) minor = magic >= number && magic < 3650 ? of : minor;
  return minor;
}

// Packages that come without sources run on one version of Python alone.
void compiled_for_another(const Exam& exam, Findings& findings) {
  for (const Distribution& d : exam.environment.distributions) {
    for (const RecordRow& row : d.record) {
      if (!row.path.ends_with(".pyc") || contains(row.path, "__pycache__") || row.path.starts_with(".."))
        continue;
      const fs::path file = d.site / row.path;
      const std::string head = read_text(file, 2).value_or("");
      if (head.size() < 2 || is_there(fs::path(file).replace_extension(".py"))) continue;
      const unsigned magic = static_cast<unsigned char>(head[0]) | static_cast<unsigned char>(head[1]) << 8;
      const uint64_t minor = minor_of_magic(magic);
      if (minor == 0 || minor == exam.environment.minor) break;
      findings.push_back(
          {"",
           Severity::error,
           Sureness::certain,
           concat(d.shown(), " is compiled for Python 3.", minor,
                  " and comes without sources; this is Python ", exam.environment.major, ".",
                  exam.environment.minor),
           {file.string()},
           concat("ImportError: bad magic number in '", d.normal, "'"),
           concat("Install what its maker has for Python ", exam.environment.major, ".",
                  exam.environment.minor, ", or make an environment with Python 3.", minor, ".")});
      break;
    }
  }
}

// A .pyc may say "never compare me with the source" (PEP 552); if the source is newer, it is not seen.
void unchecked_modules(const Exam& exam, Findings& findings) {
  for (const char* package : {"tensorflow", "keras", "torch", "jax", "numpy", "h5py"}) {
    const fs::path source = exam.environment.locate(fs::path(package) / "__init__.py");
    if (source.empty()) continue;
    const std::string compiled_name =
        concat("__init__.cpython-", exam.environment.major, exam.environment.minor, ".pyc");
    const fs::path compiled = source.parent_path() / "__pycache__" / compiled_name;
    const std::string head = read_text(compiled, 16).value_or("");
    if (head.size() < 16 || head[4] != 1) continue;  // bit 0: by hash; bit 1: checked
    std::error_code a, b;
    if (fs::last_write_time(source, a) <= fs::last_write_time(compiled, b) || a || b) continue;
    findings.push_back({"",
                        Severity::warning,
                        Sureness::likely,
                        concat(package, " runs from compiled files older than its sources"),
                        {compiled.string() + " is marked unchecked"},
                        "Changes in the sources are not seen",
                        concat("find ", source.parent_path().string(), " -name '*.pyc' -delete")});
  }
}

}  // namespace

void find_stale_caches(const Exam& exam, Findings& findings) {
  torch_extensions(exam, findings);
  orphaned_modules(exam, findings);
  compiled_for_another(exam, findings);
  unchecked_modules(exam, findings);
}

}  // namespace plimsoll::doctor
