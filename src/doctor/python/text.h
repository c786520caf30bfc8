// Small words on text that the readers of Python metadata share. No locale: ASCII only.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::doctor {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline bool is_alphanumeric(char c) { return is_digit(c) || is_alpha(c); }
inline bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

inline std::string_view trim(std::string_view s) {
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return s;
}

inline std::string lower_case(std::string_view s) {
  std::string out(s);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// The parts of `s` between any of `separators`; one empty part for an empty string.
inline std::vector<std::string_view> split(std::string_view s, std::string_view separators) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = s.find_first_of(separators);
    parts.push_back(s.substr(0, end));
    if (end == std::string_view::npos) return parts;
    s.remove_prefix(end + 1);
  }
}

inline bool contains(std::string_view s, std::string_view part) {
  return s.find(part) != std::string_view::npos;
}

template <class Strings>
std::string join(const Strings& parts, std::string_view separator) {
  std::string out;
  for (const auto& part : parts) {
    if (!out.empty()) out += separator;
    out += part;
  }
  return out;
}

// How many letters to change, add or leave out to make one word of the other.
inline size_t letters_apart(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t corner = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j], changed = corner + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min(std::min(row[j], row[j - 1]) + 1, changed);
      corner = above;
    }
  }
  return row[b.size()];
}

// The name of a project as the index compares it: Tensorflow_CPU -> tensorflow-cpu (PEP 503).
inline std::string normal_name(std::string_view name) {
  std::string out;
  for (const char c : lower_case(name)) {
    const bool separator = c == '-' || c == '_' || c == '.';
    if (!separator) {
      out += c;
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  return out;
}

}  // namespace plimsoll::doctor
