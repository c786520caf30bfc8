#include "keras_io/json.h"

#include <utility>

#include "plimsoll/error.h"

namespace plimsoll::keras_io {
namespace {

void append(const Json& json, std::string& out) {
  if (json.is_object()) {
    out += '{';
    bool first = true;
    for (const auto& [key, value] : json.items()) {
      if (!std::exchange(first, false)) out += ", ";
      out += Json(key).dump(-1, ' ', true, Json::error_handler_t::replace) + ": ";
      append(value, out);
    }
    out += '}';
  } else if (json.is_array()) {
    out += '[';
    bool first = true;
    for (const Json& value : json) {
      if (!std::exchange(first, false)) out += ", ";
      append(value, out);
    }
    out += ']';
  } else {
    out += json.dump(-1, ' ', true, Json::error_handler_t::replace);
  }
}

}  // namespace

Json parse_json(std::string_view text, const std::string& place) {
  if (text.size() > kMostJson) {
    fail(ErrorKind::bad_file, place, "expected at most ", kMostJson, " bytes of JSON, got ", text.size());
  }
  const auto check_depth = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > kMostJsonDepth) fail(ErrorKind::bad_file, place, "JSON nested deeper than ", kMostJsonDepth);
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), check_depth);
  } catch (const nlohmann::json::exception& e) {
    fail(ErrorKind::bad_file, place, "not JSON: ", std::string_view(e.what()));
  }
}

std::string to_text(const Json& json) {
  std::string out;
  append(json, out);
  return out;
}

}  // namespace plimsoll::keras_io
