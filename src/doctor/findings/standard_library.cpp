// Parts of Python's own library that are not there: files lost, or native modules that were left out when
// Python was built without the headers they need.
#include <set>

#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/standard_parts.h"
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

struct Want {
  const char* part;
  Severity severity;
  const char* leads_to;
};
constexpr Want kWanted[] = {
    {"_ctypes", Severity::error, "ModuleNotFoundError: No module named '_ctypes' at import numpy"},
    {"_ssl", Severity::error, "pip cannot reach any index; ImportError in requests and aiohttp"},
    {"zlib", Severity::error, "ModuleNotFoundError: No module named 'zlib': nothing can be installed"},
    {"_bz2", Severity::warning,
     "ModuleNotFoundError: No module named '_bz2' when pandas or joblib is imported"},
    {"_lzma", Severity::warning,
     "ModuleNotFoundError: No module named '_lzma' in pandas, torchvision and datasets"},
    {"_sqlite3", Severity::warning,
     "ModuleNotFoundError: No module named '_sqlite3': IPython keeps no history"},
};

}  // namespace

void find_standard_library(const Exam& exam, Findings& findings) {
  const Environment& e = exam.environment;
  if (!exam.libraries.system_known() || !is_folder(e.standard_library)) return;
  std::set<std::string, std::less<>> names;
  for (const auto& file : list_folder(e.standard_library)) names.insert(file.filename().string());
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
  const auto lost_parts = lost_standard_parts(exam);
  for (const StandardPart& part : standard_parts()) {
    if (!lost_parts.contains(part.name)) continue;
    for (const Want& want : kWanted) {
      if (std::string_view(want.part) != part.name) continue;
      findings.push_back({"",
                          want.severity,
                          Sureness::certain,
                          concat("This Python was built without ", part.name),
                          {concat(e.standard_library.string(), "/lib-dynload does not have it")},
                          want.leads_to,
                          standard_part_fix(part)});
    }
  }
}

}  // namespace plimsoll::doctor
