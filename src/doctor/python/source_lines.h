// The logical lines of a Python file, as Python's tokenizer finds them: brackets and backslashes join lines,
// comments and strings are passed over. Any text is accepted; what is no Python gives lines of no sense.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::doctor {

struct SourceLine {
  size_t indent = 0;       // columns before the statement
  std::string_view text;   // the statement, without comments, strings and line breaks
  std::string_view whole;  // as it stands in the file
};

// Holds the texts of its lines; `whole` points into the source given.
class SourceLines {
 public:
  explicit SourceLines(std::string_view source);
  SourceLines(const SourceLines&) = delete;
  SourceLines& operator=(const SourceLines&) = delete;

  size_t size() const { return lines_.size(); }
  const SourceLine& operator[](size_t i) const { return lines_[i]; }
  // One past the last line that stands further right than line `i`: the end of its block.
  size_t block_end(size_t i) const;
  // The source ends inside a bracket or a string: it was cut off.
  bool open_at_end() const { return open_at_end_; }

 private:
  std::string text_;
  std::vector<SourceLine> lines_;
  bool open_at_end_ = false;
};

inline bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 128;
}

// Calls f(word, is the name of an attribute) for each word that is no number.
template <class F>
void for_each_word(std::string_view line, const F& f) {
  char before = ' ';
  for (size_t at = 0; at < line.size();) {
    if (!is_word_character(line[at])) {
      if (line[at] != ' ') before = line[at];
      ++at;
      continue;
    }
    const size_t begin = at;
    while (at < line.size() && is_word_character(line[at])) ++at;
    const bool number = line[begin] >= '0' && line[begin] <= '9';
    if (!number) f(line.substr(begin, at - begin), before == '.');
    before = 'x';
  }
}

}  // namespace plimsoll::doctor
