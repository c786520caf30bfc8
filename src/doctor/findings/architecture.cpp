// Native libraries built for another processor than the interpreter runs as.
#include <map>

#include "doctor/commands.h"
#include "doctor/exam.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

constexpr const char* kStandard = "Python's own library";

}  // namespace

void find_architecture(const Exam& exam, Findings& findings) {
  const Library* interpreter = exam.libraries.interpreter();
  if (!interpreter || (!interpreter->elf && interpreter->slices.empty())) return;
  struct Group {
    std::vector<std::string> unfit;
    std::string machine;
    size_t fit = 0;
    bool importable = false, of_mac = false;
  };
  std::map<std::string, Group> groups;  // by project
  for (const auto& library : exam.libraries.all()) {
    if (!library->in_environment || (!library->elf && library->slices.empty())) continue;
    Group& group = groups[library->owner      ? library->owner->name
                          : library->standard ? kStandard
                                              : std::string(split(library->shown, "/")[0])];
    if (exam.libraries.fits_interpreter(*library)) {
      ++group.fit;
      continue;
    }
    group.unfit.push_back(library->shown);
    group.machine = library->architectures();
    group.of_mac |= !library->slices.empty();
    group.importable |= library->reachable;
  }
  for (const auto& [name, group] : groups) {
    // Tools carry helpers for every processor; what is never loaded does no harm.
    if (group.unfit.empty() || (!group.importable && group.fit > 0)) continue;
    const std::string own =
        exam.environment.is_macos ? exam.environment.machine : interpreter->architectures();
    const bool rosetta = exam.environment.is_macos && own == "arm64" && group.machine == "x86_64";
    Finding f;
    f.severity = Severity::error;
    const bool of_mac = !exam.environment.is_macos && group.of_mac;
    f.what =
        of_mac ? concat(name, " was built for macOS (Mach-O, ", group.machine, "); this Python is for Linux")
        : rosetta ? concat(name, " was built for Intel Macs; this Python runs natively on Apple silicon")
                  : concat(name, " was built for ", group.machine, "; this Python is for ", own);
    f.evidence = {concat("for ", group.machine, ": ", some_of(group.unfit))};
    f.leads_to = exam.environment.is_macos
                     ? "ImportError: ... (mach-o file, but is an incompatible architecture)"
                     : "ImportError: cannot open shared object file (or: wrong ELF class)";
    if (name != kStandard)
      f.installs = {{name, "", true}};
    else
      f.fix = make_anew_command(exam);
    findings.push_back(f);
  }
}

}  // namespace plimsoll::doctor
