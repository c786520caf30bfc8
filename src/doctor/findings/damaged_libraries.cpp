// Native files that are empty, cut off or garbled.
#include "doctor/exam.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {

void find_damaged_libraries(const Exam& exam, Findings& findings) {
  for (const auto& library : exam.libraries.all()) {
    std::string why = library->broken;
    if (why.empty() && library->elf && !library->elf->complete()) why = "it is shorter than its headers say";
    if (why.empty() && library->module && !library->elf && library->slices.empty())
      why = "it is no native library";
    if (why.empty() || !(library->in_environment || library->reachable)) continue;
    Finding f;
    f.severity = Severity::error;
    f.what = concat(library->shown, " is damaged: ", why);
    f.evidence = {library->path.string()};
    f.leads_to = "ImportError (file too short, invalid ELF header) or a bus error when it is loaded";
    if (library->owner)
      f.installs = reinstall(*library->owner);
    else
      f.fix = "Install the package it belongs to again.";
    findings.push_back(f);
  }
}

}  // namespace plimsoll::doctor
