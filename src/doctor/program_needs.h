// What a program or notebook asks for when it runs, beyond its imports: modules and programs that libraries
// look for in some of their functions only, and the kernel that a notebook names. A part of the finding
// `program`.
#pragma once

#include <string>
#include <string_view>

#include "doctor/exam.h"

namespace plimsoll::doctor {

// Whether a program of this name can be run, from the environment or from PATH.
bool is_on_path(const Exam& exam, std::string_view program);

void needs_of_program(const Exam& exam, std::string_view source, Findings& findings);
// `kernel`: its name in the notebook; empty: it names none.
void kernel_of_notebook(const Exam& exam, std::string_view kernel, Findings& findings);

}  // namespace plimsoll::doctor
