// ProgramReader holds what the parts of the finding `program` that look at calls have in common: the
// program's lines, what it imports, which lines it guards by itself, and a finding for a line.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "doctor/exam.h"
#include "doctor/python/call_text.h"
#include "doctor/python/source.h"
#include "doctor/python/source_lines.h"

namespace plimsoll::doctor {

class ProgramReader {
 public:
  ProgramReader(const Exam& exam, std::string_view source, Findings& findings);

 protected:
  // Any of these packages, with spaces between them.
  bool imports(std::string_view packages) const;
  bool is_at_least(std::string_view project, std::string_view version) const;
  std::string shown(std::string_view project) const;
  // Inside of `if version ...`, `if hasattr(...)`, a try or a test for an error: the program knows better.
  bool is_guarded(size_t line) const;
  // A name that the program defines itself, or takes from elsewhere.
  bool is_own(std::string_view name) const;
  // Calls f(line, where in it, arguments) for each call of `name` that is not guarded.
  template <class F>
  void for_each_call(std::string_view name, const F& f) const {
    for (size_t i = 0; i < lines_.size(); ++i) {
      const std::string_view text = lines_[i].text;
      for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
        const bool begins = at == 0 || !is_word_character(text[at - 1]);
        const size_t open = text.find_first_not_of(' ', at + name.size());
        const bool defined = text.starts_with("def ") || text.starts_with("class ");
        if (!begins || defined || open == std::string_view::npos || text[open] != '(' || is_guarded(i))
          continue;
        f(i, at, text_in_brackets(text, open));
      }
    }
  }
  void add(size_t line, std::string what, std::string leads_to, std::string fix);

  const Exam& exam_;
  std::string_view source_;
  Findings& findings_;
  SourceLines lines_;
  std::string file_;
  std::set<std::string, std::less<>> imported_, bound_, said_;
  std::vector<std::pair<size_t, std::string>> taken_;  // imports that always run, with their lines
};

}  // namespace plimsoll::doctor
