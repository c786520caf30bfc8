// Which project brings a module, and whose a file is.
#pragma once

#include <string>
#include <string_view>

#include "doctor/python/environment.h"

namespace plimsoll::doctor {

// The requirement that brings a module, or the module's own name: "scikit-learn" for sklearn.
std::string project_with(std::string_view module);
// Whether a project of this name is known to be on the index: from a list, or because one that is installed
// asks for it, if only as an extra.
bool is_known_project(const Environment& environment, std::string_view project);
// The project of this name, or another one that brings the same: tensorflow-cpu for tensorflow. Null:
// neither.
const Distribution* find_project(const Environment& environment, std::string_view name);
// The project whose RECORD lists the file; null if none does.
const Distribution* owner_of(const Environment& environment, const std::filesystem::path& file);

}  // namespace plimsoll::doctor
