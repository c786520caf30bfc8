// Data that a program's calls load and that is not here: models of spaCy, texts of NLTK. A part of the finding
// `program`.
#pragma once

#include <string_view>

#include "doctor/exam.h"

namespace plimsoll::doctor {

void data_of_program(const Exam& exam, std::string_view source, Findings& findings);

}  // namespace plimsoll::doctor
