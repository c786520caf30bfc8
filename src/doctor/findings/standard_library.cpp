// Parts of Python's own library that are not there: files lost, or native modules that were left out when
// Python was built without the headers they need.
#include <set>

#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

// Imported by Python itself when it starts, or by every framework.
constexpr const char* kFiles[] = {
    "os.py",       "codecs.py",       "io.py",        "abc.py",         "re",      "collections",
    "encodings",   "importlib",       "json",         "logging",        "asyncio", "ctypes",
    "ssl.py",      "typing.py",       "inspect.py",   "functools.py",   "email",   "http",
    "tempfile.py", "subprocess.py",   "threading.py", "random.py",      "urllib",  "unittest",
    "zipfile",     "multiprocessing", "concurrent",   "dataclasses.py", "enum.py", "types.py"};

struct NativeModule {
  const char* name;
  Severity severity;
  const char* headers;  // Debian's package
  const char* leads_to;
};
constexpr NativeModule kModules[] = {
    {"_ctypes", Severity::error, "libffi-dev",
     "ModuleNotFoundError: No module named '_ctypes' at import numpy"},
    {"_ssl", Severity::error, "libssl-dev",
     "pip cannot reach any index; ImportError in requests and aiohttp"},
    {"zlib", Severity::error, "zlib1g-dev",
     "ModuleNotFoundError: No module named 'zlib': nothing can be installed"},
    {"_bz2", Severity::warning, "libbz2-dev",
     "ModuleNotFoundError: No module named '_bz2' when pandas or joblib is imported"},
    {"_lzma", Severity::warning, "liblzma-dev",
     "ModuleNotFoundError: No module named '_lzma' in pandas, torchvision and datasets"},
    {"_sqlite3", Severity::warning, "libsqlite3-dev",
     "ModuleNotFoundError: No module named '_sqlite3': IPython keeps no history"},
};

bool has(const std::set<std::string, std::less<>>& names, std::string_view stem) {
  const auto it = names.lower_bound(concat(stem, "."));
  return it != names.end() && it->starts_with(concat(stem, "."));
}

// A module may be part of the program: then the function that makes it is among the program's symbols. (Its
// bare name is no sign: the program has the names of all modules there are.)
bool is_built_in(const Exam& exam, std::string_view name) {
  const Library* program = exam.libraries.interpreter();
  if (!program) return true;
  const std::string function = concat("PyInit_", name);
  for (const Library* l : exam.libraries.closure(*program)) {
    const bool of_python = l == program || contains(l->path.filename().string(), "libpython");
    if (of_python && l->file && contains(l->file->bytes().text(), function)) return true;
  }
  return false;
}

}  // namespace

void find_standard_library(const Exam& exam, Findings& findings) {
  const Environment& e = exam.environment;
  if (!exam.libraries.system_known() || !is_folder(e.standard_library)) return;
  std::set<std::string, std::less<>> names, native;
  for (const auto& file : list_folder(e.standard_library)) names.insert(file.filename().string());
  for (const auto& file : list_folder(e.standard_library / "lib-dynload"))
    native.insert(file.filename().string());
  if (!names.contains("os.py")) return;  // in an archive, or gone as a whole: interpreter
  std::vector<std::string> lost;
  for (const std::string name : kFiles) {
    const std::string stem = name.substr(0, name.find('.'));
    if (!names.contains(stem) && !names.contains(stem + ".py") && !names.contains(stem + ".pyc"))
      lost.push_back(stem);
  }
  if (!lost.empty()) {
    findings.push_back({"",
                        Severity::error,
                        Sureness::certain,
                        concat("Python's own library has lost ", some_of(lost)),
                        {e.standard_library.string()},
                        concat("ModuleNotFoundError: No module named '", lost.front(), "'"),
                        "Install Python itself again."});
  }
  if (native.size() < 10) return;  // a build that has them all inside
  for (const NativeModule& module : kModules) {
    if (has(native, module.name) || is_built_in(exam, module.name)) continue;
    findings.push_back(
        {"",
         module.severity,
         Sureness::certain,
         concat("This Python was built without ", module.name),
         {concat(e.standard_library.string(), "/lib-dynload does not have it")},
         module.leads_to,
         concat("Install the headers (", module.headers, "), then build and install Python again.")});
  }
}

}  // namespace plimsoll::doctor
