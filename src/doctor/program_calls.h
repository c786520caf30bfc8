// What a program calls with words that the installed libraries have dropped: arguments, methods, and data
// that a call loads by name.
#pragma once

#include "doctor/exam.h"

namespace plimsoll::doctor {

void calls_of_program(const Exam& exam, std::string_view source, Findings& findings);

}  // namespace plimsoll::doctor
