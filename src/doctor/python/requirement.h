// Requirements of Python projects (PEP 508): name[extra] >= 1.2 ; python_version < "3.12".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/python/version.h"

namespace plimsoll::doctor {

// The values of the marker variables in one environment (python_version, sys_platform ...).
using MarkerValues = std::map<std::string, std::string, std::less<>>;

struct Requirement {
  std::string name;  // as written; compare normal_name(name)
  std::vector<std::string> extras;
  Specifiers specifiers;
  std::string marker;  // empty: always applies
  std::string text;

  // Nothing if `text` cannot be understood.
  static std::optional<Requirement> parse(std::string_view text);
};

// Whether `marker` holds; `extra` is the value of that variable. Nothing if it cannot be understood.
std::optional<bool> marker_holds(std::string_view marker, const MarkerValues& values,
                                 std::string_view extra = "");

}  // namespace plimsoll::doctor
