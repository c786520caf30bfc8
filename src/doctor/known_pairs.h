// Pairs of projects that are known not to work together: the table of the finding `known_pairs`.
#pragma once

#include "doctor/exam.h"

namespace plimsoll::doctor {

// Whether the project is one of such a pair, and another release of it is the remedy: other findings about it
// then have the same cure.
bool has_known_remedy(const Exam& exam, const Distribution& project);

}  // namespace plimsoll::doctor
