// Exam is all a finding may look at; a finding is one file in findings/ with one function
// `void find_<stem>(const Exam&, Findings&)`, and CMake lists those by their names.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "doctor/libraries.h"
#include "doctor/python/environment.h"
#include "doctor/system.h"
#include "plimsoll/doctor.h"

namespace plimsoll::doctor {

struct Exam {
  const Options& options;
  const System& system;
  const Environment& environment;
  const Libraries& libraries;
  std::filesystem::path kernelspec;  // whose variables `system` has; empty: those of the shell
};

using Findings = std::vector<Finding>;
using FindingFunction = void (*)(const Exam&, Findings&);

struct FindingFile {
  const char* id;
  FindingFunction find;
};
// Written by CMake from the file names.
std::span<const FindingFile> finding_files();

// A remedy: the project is installed again, in the version it has.
inline std::vector<Finding::Install> reinstall(const Distribution& d) { return {{d.name, "", true}}; }

// "a, b, c and 12 more": the first `most` of a list.
std::string some_of(const std::vector<std::string>& all, size_t most = 4);

}  // namespace plimsoll::doctor
