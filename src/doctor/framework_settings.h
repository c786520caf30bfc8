// Environment variables that frameworks read when they are imported, and stop at: a part of the finding
// `settings`.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "doctor/commands.h"
#include "doctor/exam.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {

void framework_settings(const Exam& exam, Findings& findings);

// A finding about the value of one variable; the fix is to unset it.
inline void add_setting(const Exam& exam, Severity severity, std::string_view name, std::string what,
                        std::string leads_to, Findings& findings) {
  findings.push_back({"",
                      severity,
                      Sureness::certain,
                      std::move(what),
                      {concat(name, "=", exam.system.variable(name))},
                      std::move(leads_to),
                      unset_command(exam, name)});
}

inline bool is_one_of(std::string_view value, std::initializer_list<std::string_view> allowed) {
  return std::find(allowed.begin(), allowed.end(), value) != allowed.end();
}

}  // namespace plimsoll::doctor
