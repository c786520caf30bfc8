// Projects that are no longer made, and fail with today's frameworks or Pythons in every version: to remove
// them is the only answer. Some of them have the name of a module that another project brings.
#pragma once

#include <string>
#include <utility>

#include "doctor/python/distribution.h"
#include "plimsoll/doctor.h"

namespace plimsoll::doctor {

inline bool is_abandoned(const Distribution& d) {
  for (const std::string_view name :
       {"tensorflow-addons", "neural-structured-learning", "attrdict", "missingpy", "keras-vggface"}) {
    if (d.normal == name) return true;
  }
  return false;
}

// What people mean who installed a project by the name of its module; empty if that is no mix-up.
inline std::string meant_project(const Distribution& d) {
  const std::pair<std::string_view, std::string_view> known[] = {{"docx", "python-docx"},
                                                                 {"jose", "python-jose"},
                                                                 {"pptx", "python-pptx"},
                                                                 {"dotenv", "python-dotenv"},
                                                                 {"jwt", "PyJWT"},
                                                                 {"serial", "pyserial"},
                                                                 {"fitz", "PyMuPDF"},
                                                                 {"crypto", "pycryptodome"},
                                                                 {"slugify", "python-slugify"},
                                                                 {"telegram", "python-telegram-bot"},
                                                                 {"sklearn", "scikit-learn"}};
  for (const auto& [name, project] : known) {
    if (d.normal == name) return std::string(project);
  }
  return "";
}

// The fix for a project that fails and has no better version; false if it may have one.
inline bool do_without(const Distribution& d, Finding& f) {
  const std::string meant = meant_project(d);
  if (meant.empty() && !is_abandoned(d)) return false;
  f.removes = {d.name};
  f.installs.clear();
  if (!meant.empty()) {
    f.installs = {{meant, "", false}};
    f.evidence.push_back("the project that most mean by this name is " + meant);
  }
  return true;
}

}  // namespace plimsoll::doctor
