#include "keras_io/json.h"

#include <cmath>
#include <limits>
#include <utility>

#include "plimsoll/error.h"

namespace plimsoll::keras_io {
namespace {

std::string_view word_of(double value) {
  return std::isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity";
}

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
    const bool is_word = json.is_number_float() && !std::isfinite(json.get<double>());
    out += is_word ? word_of(json.get<double>()) : json.dump(-1, ' ', true, Json::error_handler_t::replace);
  }
}

// Python's json writes NaN, Infinity and -Infinity, which are no JSON. They are put between quotes behind a
// character that no text in a config begins with, and made numbers as the parser meets them.
constexpr std::string_view kMark = "\\u0001";

std::string with_words_marked(std::string_view text) {
  std::string out;
  size_t done = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      quoted = !quoted;
    if (quoted || i >= text.size()) continue;
    for (const std::string_view word : {"NaN", "-Infinity", "Infinity"}) {
      if (!text.substr(i).starts_with(word)) continue;
      out.append(text.substr(done, i - done)).append("\"").append(kMark).append(word).append("\"");
      i += word.size() - 1;
      done = i + 1;
      break;
    }
  }
  return out.append(text.substr(done));
}

void make_number_of_word(Json& value) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!value.is_string()) return;
  const std::string& text = value.get_ref<const std::string&>();
  if (!text.starts_with('\x01')) return;
  const std::string word = text.substr(1);
  if (word == "NaN") value = std::numeric_limits<double>::quiet_NaN();
  if (word == "Infinity" || word == "-Infinity") value = word[0] == '-' ? -kInfinity : kInfinity;
}

}  // namespace

Json parse_json(std::string_view text, const std::string& place) {
  if (text.size() > kMostJson) {
    fail(ErrorKind::bad_file, place, "expected at most ", kMostJson, " bytes of JSON, got ", text.size());
  }
  const auto check_depth = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > kMostJsonDepth) fail(ErrorKind::bad_file, place, "JSON nested deeper than ", kMostJsonDepth);
    if (event == Json::parse_event_t::value) make_number_of_word(value);
    return true;
  };
  const bool has_words =
      text.find("NaN") != std::string_view::npos || text.find("Infinity") != std::string_view::npos;
  const std::string marked = has_words ? with_words_marked(text) : std::string();
  if (has_words) text = marked;
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
