#include "doctor/python/source_lines.h"

#include <algorithm>

#include "doctor/python/text.h"

namespace plimsoll::doctor {
namespace {

// Where the string that begins at `at` ends. `closed`: it does so by its quotes.
size_t end_of_string(std::string_view text, size_t at, bool& closed) {
  const char quote = text[at];
  const bool triple = text.size() - at >= 3 && text[at + 1] == quote && text[at + 2] == quote;
  closed = true;
  at += triple ? 3 : 1;
  while (at < text.size()) {
    if (text[at] == '\\') {
      at += 2;
    } else if (text[at] == quote && !triple) {
      return at + 1;
    } else if (text[at] == quote && text.size() - at >= 3 && text[at + 1] == quote && text[at + 2] == quote) {
      return at + 3;
    } else if (text[at] == '\n' && !triple) {
      break;  // an error of the file, or not Python
    } else {
      ++at;
    }
  }
  closed = false;
  return std::min(at, text.size());
}

}  // namespace

SourceLines::SourceLines(std::string_view source) {
  text_.reserve(source.size() + 1);  // never moved: the lines point into it
  for (size_t at = 0; at < source.size();) {
    const size_t begin = at, start = text_.size();
    int depth = 0;
    bool closed = true;
    while (at < source.size()) {
      const char c = source[at];
      if (c == '\n' && depth == 0) break;
      if (c == '#') {
        at = std::min(source.find('\n', at), source.size());
      } else if (c == '"' || c == '\'') {
        at = end_of_string(source, at, closed);
      } else if (c == '\\' && at + 1 < source.size()) {
        at += source.substr(at).starts_with("\\\r\n") ? 3 : 2;
        text_ += ' ';
      } else {
        if (c == '(' || c == '[' || c == '{') ++depth;
        if ((c == ')' || c == ']' || c == '}') && depth > 0) --depth;
        text_ += c == '\n' || c == '\r' || c == '\t' ? ' ' : c;
        ++at;
      }
    }
    at = std::min(at, source.size());
    open_at_end_ = at == source.size() && (depth > 0 || !closed);
    const std::string_view line = std::string_view(text_).substr(start);
    const size_t indent = line.find_first_not_of(' ');
    if (indent != std::string_view::npos)
      lines_.push_back({indent, trim(line), source.substr(begin, at - begin)});
    ++at;
  }
}

size_t SourceLines::block_end(size_t i) const {
  size_t end = i + 1;
  while (end < lines_.size() && lines_[end].indent > lines_[i].indent) ++end;
  return end;
}

}  // namespace plimsoll::doctor
