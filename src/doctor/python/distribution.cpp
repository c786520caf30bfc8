// Reads one *.dist-info or *.egg-info.
#include <charconv>
#include <nlohmann/json.hpp>

#include "doctor/formats/mapped_file.h"
#include "doctor/python/distribution.h"
#include "doctor/python/text.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

void read_metadata(Distribution& d, std::string_view text) {
  const Headers headers = parse_headers(text);
  if (const std::string_view name = first_of(headers, "name"); !name.empty()) {
    d.name = name;
    d.has_metadata = true;
  }
  if (const std::string_view version = first_of(headers, "version"); !version.empty())
    d.version_text = version;
  d.requires_python = first_of(headers, "requires-python");
  for (const std::string_view line : all_of(headers, "requires-dist")) {
    if (auto requirement = Requirement::parse(line)) d.requires_dist.push_back(*std::move(requirement));
  }
}

void read_wheel(Distribution& d, std::string_view text) {
  const Headers headers = parse_headers(text);
  d.pure = lower_case(first_of(headers, "root-is-purelib")) == "true";
  for (const std::string_view line : all_of(headers, "tag")) {
    if (auto tag = WheelTag::parse(line)) d.tags.push_back(*std::move(tag));
  }
}

// "/a b" of "file:///a%20b"; empty for what is no file.
std::string path_of_url(std::string_view url) {
  if (!url.starts_with("file://")) return "";
  url.remove_prefix(7);
  if (url.starts_with("localhost/")) url.remove_prefix(9);
  std::string path;
  for (size_t i = 0; i < url.size(); ++i) {
    int byte = 0;
    const char* hex = url.data() + i + 1;
    if (url[i] == '%' && i + 2 < url.size() && std::from_chars(hex, hex + 2, byte, 16).ptr == hex + 2) {
      path += static_cast<char>(byte);
      i += 2;
    } else {
      path += url[i];
    }
  }
  return path;
}

void read_direct_url(Distribution& d) {
  const std::optional<std::string> text = read_text(d.folder / "direct_url.json", 1u << 16);
  if (!text) return;
  const nlohmann::json j = nlohmann::json::parse(*text, nullptr, false);
  if (!j.is_object()) return;
  if (const auto url = j.find("url"); url != j.end() && url->is_string())
    d.source = path_of_url(url->get<std::string>());
  d.editable = j.contains("dir_info") && j["dir_info"].is_object() &&
               j["dir_info"].value("editable", nlohmann::json(false)) == true;
}

}  // namespace

bool is_distribution(std::string_view file_name) {
  return !file_name.starts_with('~') &&
         (file_name.ends_with(".dist-info") || file_name.ends_with(".egg-info"));
}

namespace {

// By the name of its folder: name-version.dist-info, or name-version-py3.11.egg-info.
Distribution named_distribution(const fs::path& folder) {
  Distribution d;
  d.folder = folder;
  d.site = folder.parent_path();
  d.egg = folder.extension() == ".egg-info";
  const std::string stem = folder.stem().string();
  const std::vector<std::string_view> parts = split(stem, "-");
  d.name = parts[0];
  if (parts.size() > 1) d.version_text = parts[1];
  return d;
}

}  // namespace

Distribution zipped_distribution(const fs::path& folder, std::string_view metadata) {
  Distribution d = named_distribution(folder);
  read_metadata(d, metadata);
  d.normal = normal_name(d.name);
  d.version = Version::parse(d.version_text);
  return d;
}

Distribution read_distribution(const fs::path& folder) {
  Distribution d = named_distribution(folder);
  std::error_code ignored;
  const bool is_file = fs::is_regular_file(folder, ignored);
  const fs::path metadata = is_file ? folder : folder / (d.egg ? "PKG-INFO" : "METADATA");
  if (const auto text = read_text(metadata)) read_metadata(d, *text);
  if (!d.egg) {
    if (const auto text = read_text(folder / "WHEEL", 1u << 20)) read_wheel(d, *text);
    if (const auto text = read_text(folder / "INSTALLER", 256)) d.installer = trim(*text);
    if (const auto text = read_text(folder / "RECORD", 256u << 20)) {
      d.has_record = true;
      d.record = parse_record(*text);
    }
    read_direct_url(d);
  }
  d.normal = normal_name(d.name);
  d.version = Version::parse(d.version_text);
  return d;
}

}  // namespace plimsoll::doctor
