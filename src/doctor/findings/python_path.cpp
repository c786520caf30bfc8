// Variables that send the interpreter elsewhere: PYTHONPATH, PYTHONHOME, preloads that are gone.
#include "doctor/commands.h"
#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {

void find_python_path(const Exam& exam, Findings& findings) {
  const Environment& e = exam.environment;
  const std::string own = concat("python", e.major, ".", e.minor);
  for (const PathEntry& entry : e.path.entries()) {
    if (entry.from != PathEntry::From::variable || !entry.of_other_python) continue;
    findings.push_back({"",
                        Severity::error,
                        Sureness::likely,
                        concat("PYTHONPATH brings in the packages of another Python; this is ", own),
                        {concat("PYTHONPATH holds ", entry.written)},
                        "Native modules of the other version: ImportError, or a crash",
                        without_entry_command(exam, "PYTHONPATH", entry.written)});
  }
  if (const Library* libpython = exam.libraries.foreign_libpython(e, exam.system)) {
    const std::string entry = Libraries::library_path_entry(*libpython, exam.system);
    findings.push_back(
        {"",
         Severity::error,
         Sureness::certain,
         "LD_LIBRARY_PATH gives this Python the libpython of another",
         {concat(libpython->shown, ", in place of the one in ", (e.base_prefix / "lib").string())},
         "Another version of Python runs: missing modules, undefined symbols, or a crash",
         without_entry_command(exam, "LD_LIBRARY_PATH", entry)});
  }
  if (const std::string_view home = exam.system.variable("PYTHONHOME"); !home.empty()) {
    if (real_path(home) != real_path(e.base_prefix)) {
      findings.push_back({"",
                          Severity::error,
                          Sureness::likely,
                          "PYTHONHOME points to another Python",
                          {concat("PYTHONHOME=", home), "this environment's is " + e.base_prefix.string()},
                          "ModuleNotFoundError: No module named 'encodings': Python does not start",
                          unset_command(exam, "PYTHONHOME")});
    }
  }
  for (const std::string_view entry : split(exam.system.variable("LD_PRELOAD"), ": ")) {
    if (!contains(entry, "/") || is_there(entry)) continue;
    findings.push_back({"",
                        Severity::warning,
                        Sureness::certain,
                        concat("LD_PRELOAD names ", entry, ", which is not there"),
                        {},
                        "The loader complains at each start; what it should have changed stays as it was",
                        unset_command(exam, "LD_PRELOAD")});
  }
}

}  // namespace plimsoll::doctor
