// Commands that a person can paste into a shell as they stand: paths are quoted, and packages are installed
// by what this environment has: pip, uv or conda.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/exam.h"

namespace plimsoll::doctor {

// A path or another text as one word of a POSIX shell, unchanged where it needs no quotes.
std::string shell_word(const std::filesystem::path& text);

struct InstallCommand {
  std::vector<std::string> requirements;  // "keras>=3", "-e /source"
  bool upgrade = false;                   // newer ones where there are any
  bool again = false;  // the files are written anew, even of the same version; dependencies stay
  bool alone = false;  // without what they require: another project serves for it
  bool wheels_only = false;
  std::string text(const Exam& exam) const;
};
std::string uninstall_command(const Exam& exam, const std::vector<std::string>& projects);

// How to change a variable where it is set: the shell, or the kernelspec that the Exam looks at.
std::string unset_command(const Exam& exam, std::string_view variable);
std::string set_command(const Exam& exam, std::string_view variable, std::string_view value);
// Takes one entry out of a list of folders such as PYTHONPATH.
std::string without_entry_command(const Exam& exam, std::string_view variable, std::string_view entry);

// How a folder got on the path before the environment's own: through PYTHONPATH, a .pth file or the user's
// site. Empty for the environment's own, where packages are installed.
std::string how_on_path(const Exam& exam, const std::filesystem::path& folder);
// Undoes that; empty where it is not so.
std::string take_off_path_command(const Exam& exam, const std::filesystem::path& folder);

// Makes the environment anew, with the projects that nobody else brings along.
std::string make_anew_command(const Exam& exam);

}  // namespace plimsoll::doctor
