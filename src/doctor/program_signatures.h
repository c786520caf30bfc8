// A program's calls of installed functions and classes, held against what these take in the installed files:
// names of arguments, arguments too many or too few. A part of the finding `program`.
#pragma once

#include <string_view>

#include "doctor/exam.h"

namespace plimsoll::doctor {

void signatures_of_program(const Exam& exam, std::string_view source, Findings& findings);

}  // namespace plimsoll::doctor
