#include "doctor/debian.h"

#include "doctor/files.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/python/text.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestList = 4u << 20;
constexpr std::string_view kSite = "lib/python3/dist-packages";

// /usr of /usr/lib/python3/dist-packages.
fs::path prefix_of(const fs::path& site) { return site.parent_path().parent_path().parent_path(); }

}  // namespace

bool is_debians(const fs::path& site) { return site == prefix_of(site) / kSite; }

std::optional<DebianPackage> debian_package_with(const fs::path& folder) {
  const fs::path prefix = prefix_of(folder.parent_path());
  // dpkg's lists name files as they are called in the root that it manages.
  const std::string site = (fs::path("/") / prefix.filename() / kSite / "").string();
  for (const fs::path& list : list_folder(prefix.parent_path() / "var/lib/dpkg/info")) {
    if (list.extension() != ".list") continue;
    const std::string text = read_text(list, kLongestList).value_or("");
    if (!contains(text, site + folder.filename().string() + "\n")) continue;
    DebianPackage found;
    const std::string name = list.stem().string();
    found.name = name.substr(0, name.find(':'));  // libfoo:amd64
    for (const std::string_view line : split(text, "\n")) {
      if (line.starts_with(site)) found.files.emplace(line.substr(site.size()));
    }
    return found;
  }
  return std::nullopt;
}

}  // namespace plimsoll::doctor
