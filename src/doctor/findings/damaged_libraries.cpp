// Native files that are empty, cut off or garbled.
#include <map>

#include "doctor/commands.h"
#include "doctor/exam.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

// The loader takes the first file of a name, and stops where that is none it can load.
void in_library_path(const Exam& exam, Findings& findings) {
  std::map<std::filesystem::path, std::vector<std::string>> needed_by;
  for (const auto& library : exam.libraries.all()) {
    for (const auto& file : library->unloadable) needed_by[file].push_back(library->shown);
  }
  for (const auto& [file, libraries] : needed_by) {
    const std::string entry = Libraries::library_path_entry(file, exam.system);
    if (entry.empty()) continue;
    findings.push_back(
        {"",
         Severity::error,
         Sureness::certain,
         concat("LD_LIBRARY_PATH puts a damaged ", file.filename().string(), " before the system's"),
         {file.string() + " is no library", "needed by " + some_of(libraries)},
         concat("ImportError: ", file.string(), ": file too short, or invalid ELF header"),
         without_entry_command(exam, "LD_LIBRARY_PATH", entry)});
  }
}

}  // namespace

void find_damaged_libraries(const Exam& exam, Findings& findings) {
  in_library_path(exam, findings);
  for (const auto& library : exam.libraries.all()) {
    std::string why = library->broken;
    if (why.empty() && library->elf && !library->elf->complete()) why = "it is shorter than its headers say";
    if (why.empty() && library->elf && !library->elf->aligned())
      why = "its segments cannot be mapped, as strip or patchelf leaves some libraries";
    if (why.empty() && library->module && !library->elf && library->slices.empty())
      why = "it is no native library";
    if (why.empty() || !(library->in_environment || library->reachable)) continue;
    Finding f;
    f.severity = Severity::error;
    f.evidence = {library->path.string()};
    if (why.starts_with('[')) {  // what the reader stumbled over
      f.evidence.push_back(why);
      why = "it is cut off or garbled";
    }
    f.what = concat(library->shown, " is damaged: ", why);
    f.leads_to =
        "ImportError (file too short, invalid ELF header, ELF load command address/offset not properly "
        "aligned) "
        "or a bus error when it is loaded";
    const std::string entry = Libraries::library_path_entry(*library, exam.system);
    if (library->owner)
      f.installs = reinstall(*library->owner);
    else if (!entry.empty())
      f.fix = without_entry_command(exam, "LD_LIBRARY_PATH", entry);
    else
      f.fix = "Install the package it belongs to again.";
    findings.push_back(f);
  }
}

}  // namespace plimsoll::doctor
