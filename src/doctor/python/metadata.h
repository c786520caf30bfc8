// The files a Python installer leaves behind: METADATA, WHEEL, RECORD, pyvenv.cfg. Readers of text
// only; what cannot be understood is left out, since installers do the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plimsoll::doctor {

// Header fields in order, names in lower case, up to the first empty line; folded lines are joined.
using Headers = std::vector<std::pair<std::string, std::string>>;
Headers parse_headers(std::string_view text);
// The first value of a field, or empty.
std::string_view first_of(const Headers& headers, std::string_view name);
std::vector<std::string_view> all_of(const Headers& headers, std::string_view name);

struct RecordRow {
  std::string path;  // relative to the folder that holds the dist-info
  std::string hash;  // "sha256=..." or empty
  std::optional<uint64_t> size;
};
std::vector<RecordRow> parse_record(std::string_view text);

// "key = value" lines, such as pyvenv.cfg; keys in lower case.
Headers parse_key_values(std::string_view text);

// A wheel tag such as cp311-cp311-manylinux_2_17_x86_64.
struct WheelTag {
  std::string python, abi, platform;
  static std::optional<WheelTag> parse(std::string_view text);
};

}  // namespace plimsoll::doctor
