#include "doctor/python/metadata.h"

#include <charconv>

#include "doctor/python/text.h"

namespace plimsoll::doctor {

Headers parse_headers(std::string_view text) {
  Headers headers;
  for (const std::string_view line : split(text, "\n")) {
    // A line of blanks is no end: long fields, such as a licence, are folded with them inside.
    if (line.empty() || line == "\r") break;
    if (is_space(line.front())) {
      if (!headers.empty()) headers.back().second.append(" ").append(trim(line));
      continue;
    }
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    headers.emplace_back(lower_case(trim(line.substr(0, colon))), std::string(trim(line.substr(colon + 1))));
  }
  return headers;
}

std::string_view first_of(const Headers& headers, std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

std::vector<std::string_view> all_of(const Headers& headers, std::string_view name) {
  std::vector<std::string_view> values;
  for (const auto& [key, value] : headers) {
    if (key == name) values.push_back(value);
  }
  return values;
}

namespace {

// One field of a CSV line, quotes taken off; `line` moves on to the next field.
std::string take_field(std::string_view& line) {
  std::string field;
  if (line.starts_with('"')) {
    size_t i = 1;
    for (; i < line.size(); ++i) {
      if (line[i] != '"') {
        field += line[i];
      } else if (i + 1 < line.size() && line[i + 1] == '"') {
        field += line[i++];
      } else {
        break;
      }
    }
    line.remove_prefix(std::min(i + 1, line.size()));
  }
  const size_t comma = line.find(',');
  field += line.substr(0, comma);
  line.remove_prefix(comma == std::string_view::npos ? line.size() : comma + 1);
  return field;
}

}  // namespace

std::vector<RecordRow> parse_record(std::string_view text) {
  std::vector<RecordRow> rows;
  for (std::string_view line : split(text, "\n")) {
    line = trim(line);
    if (line.empty()) continue;
    RecordRow row;
    row.path = take_field(line);
    row.hash = take_field(line);
    const std::string size = take_field(line);
    uint64_t bytes = 0;
    const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), bytes);
    if (!size.empty() && error == std::errc() && end == size.data() + size.size()) row.size = bytes;
    if (!row.path.empty()) rows.push_back(std::move(row));
  }
  return rows;
}

Headers parse_key_values(std::string_view text) {
  Headers values;
  for (const std::string_view line : split(text, "\n")) {
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    values.emplace_back(lower_case(trim(line.substr(0, equals))), std::string(trim(line.substr(equals + 1))));
  }
  return values;
}

std::optional<WheelTag> WheelTag::parse(std::string_view text) {
  const std::vector<std::string_view> parts = split(trim(text), "-");
  if (parts.size() != 3) return std::nullopt;
  return WheelTag{std::string(parts[0]), std::string(parts[1]), std::string(parts[2])};
}

}  // namespace plimsoll::doctor
