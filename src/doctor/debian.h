// What Debian's packager has put into Python's folder: its packages leave out parts that RECORD lists, move
// programs elsewhere, and may have no metadata.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>

namespace plimsoll::doctor {

// Whether nobody but dpkg writes there: /usr/lib/python3/dist-packages.
bool is_debians(const std::filesystem::path& site);

struct DebianPackage {
  std::string name;             // python3-zmq
  std::set<std::string> files;  // below the site: zmq/__init__.py
};
// The one that brings a folder of such a site.
std::optional<DebianPackage> debian_package_with(const std::filesystem::path& folder);

}  // namespace plimsoll::doctor
