// Native parts of Python's own library that a Python may have been built without.
#pragma once

#include <set>
#include <string>

#include "doctor/exam.h"

namespace plimsoll::doctor {

struct StandardPart {
  const char* name;     // "_bz2"
  const char* module;   // that stands on it: "bz2"
  const char* headers;  // Debian's package with what it is built from
};
std::span<const StandardPart> standard_parts();

// Names of the parts that this Python does not have, neither as a file nor inside; empty where that cannot be
// seen. With "distutils", where a variable keeps setuptools from giving its own.
std::set<std::string, std::less<>> lost_standard_parts(const Exam& exam);

// What to do about one that is lost.
std::string standard_part_fix(const StandardPart& part);

}  // namespace plimsoll::doctor
