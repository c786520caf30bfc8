// Checked looks into JSON somebody else wrote: what is not there or of another kind is Error{bad_file}.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "common/json.h"
#include "layers/base/config_json.h"
#include "plimsoll/error.h"

namespace plimsoll {

// nullptr if `json` is no object or has no such key, or the value is null.
inline const ConfigJson* find(const ConfigJson& json, std::string_view key) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(key);
  return found == json.end() || found->is_null() ? nullptr : &*found;
}
inline const ConfigJson& get(const ConfigJson& json, std::string_view key, std::string_view place) {
  const ConfigJson* found = find(json, key);
  if (!found) fail(ErrorKind::bad_file, place, "expected '", key, "' in the config");
  return *found;
}
inline const ConfigJson& get_array(const ConfigJson& json, std::string_view key, std::string_view place) {
  const ConfigJson& found = get(json, key, place);
  if (!found.is_array()) fail(ErrorKind::bad_file, place, "expected a list at '", key, "'");
  return found;
}
// Empty if it is not there or no text.
inline std::string text_of(const ConfigJson& json, std::string_view key) {
  const ConfigJson* found = find(json, key);
  return found && found->is_string() ? found->get<std::string>() : std::string();
}
// Empty if it is no integer, or none that 64 bits with a sign can hold.
inline std::optional<int64_t> int64_of(const ConfigJson& json) {
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  if (!json.is_number_integer()) return {};
  if (json.is_number_unsigned() && json.get<uint64_t>() > kMost) return {};
  return json.get<int64_t>();
}

}  // namespace plimsoll
