// One installed project: a *.dist-info (or old *.egg-info) and what it says. A plain value.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/python/metadata.h"
#include "doctor/python/requirement.h"
#include "doctor/python/version.h"

namespace plimsoll::doctor {

struct Distribution {
  std::string name;    // as written
  std::string normal;  // as compared: tensorflow-cpu
  std::string version_text;
  std::optional<Version> version;
  std::filesystem::path folder;  // .../tensorflow_cpu-2.21.0.dist-info
  std::filesystem::path site;    // the folder it lies in
  bool egg = false;              // setuptools or the system's packager: no RECORD to check
  bool has_metadata = false, has_record = false;
  bool editable = false;
  std::filesystem::path source;  // the folder it was installed from, where it says so
  bool pure = false;
  std::string installer;  // pip, conda, uv ...
  std::string requires_python;
  std::vector<Requirement> requires_dist;
  std::vector<WheelTag> tags;
  std::vector<RecordRow> record;

  std::string shown() const { return name + " " + version_text; }
};

// Whether a file of this name in a site folder describes an installed project.
bool is_distribution(std::string_view file_name);
// What cannot be read is left empty: that, too, is something to find.
Distribution read_distribution(const std::filesystem::path& folder);
// The same of one in a zip archive on the path, by the text of its METADATA.
Distribution zipped_distribution(const std::filesystem::path& folder, std::string_view metadata);

}  // namespace plimsoll::doctor
