// One treatment for all findings: fixes that touch the same projects become one command, in which no
// requirement contradicts another; many findings of one kind become one, whose answer is to make the
// environment anew.
#pragma once

#include "doctor/exam.h"

namespace plimsoll::doctor {

// Writes the final `fix` of each finding.
void settle_fixes(const Exam& exam, Findings& findings);
// Leaves one finding of those that are many of a kind, and where Python cannot start, that one alone.
void merge_many(const Exam& exam, Findings& findings);

}  // namespace plimsoll::doctor
