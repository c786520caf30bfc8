// What stops Python 3 from compiling a file, as far as its lines show it.
#include "doctor/python/source.h"
#include "doctor/python/source_lines.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

bool is_operator(std::string_view word) {
  for (const std::string_view known : {"in", "is", "and", "or", "not", "if", "else", "for"}) {
    if (word == known) return true;
  }
  return false;
}

// print "x", print x: the statement of Python 2.
bool is_print_statement(const SourceLine& line) {
  if (!line.text.starts_with("print")) return false;
  std::string_view rest = trim(line.whole);
  if (!rest.starts_with("print ")) return false;
  rest = trim(rest.substr(6));
  if (rest.empty() || rest.front() == '(' || rest.front() == '=') return false;
  if (rest.front() == '"' || rest.front() == '\'') return true;
  return is_word_character(rest.front()) && !is_operator(rest.substr(0, rest.find(' ')));
}

// except Error, name:
bool is_old_except(std::string_view text) {
  if (!text.starts_with("except ")) return false;
  const size_t comma = text.find(','), bracket = text.find('(');
  return comma != std::string_view::npos && bracket == std::string_view::npos;
}

// raise Error, "text"
bool is_old_raise(const SourceLine& line) {
  if (!line.text.starts_with("raise ") || line.text.find('(') != std::string_view::npos) return false;
  return line.text.find(',') != std::string_view::npos;
}

// `async` is a word of the language since 3.7: it was a name before.
bool is_old_async(std::string_view text) {
  for (size_t at = text.find("async"); at != std::string_view::npos; at = text.find("async", at + 5)) {
    const bool whole = (at == 0 || !is_word_character(text[at - 1])) &&
                       (at + 5 >= text.size() || !is_word_character(text[at + 5]));
    const std::string_view next = trim(text.substr(std::min(text.size(), at + 5)));
    const bool meant = next.starts_with("def ") || next.starts_with("for ") || next.starts_with("with ") ||
                       next.starts_with("with(");
    if (whole && !meant) return true;
  }
  return false;
}

}  // namespace

std::string syntax_trouble(const SourceLines& lines) {
  for (size_t i = 0; i < lines.size(); ++i) {
    const SourceLine& line = lines[i];
    if (line.indent == 0 && (line.text.starts_with("<<<<<<<") || line.text.starts_with(">>>>>>>")))
      return "it has marks of a merge that was not finished (<<<<<<<, >>>>>>>)";
    const char first = line.text.front();
    if (first == 'p'   ? is_print_statement(line)
        : first == 'e' ? is_old_except(line.text)
                       : first == 'r' && is_old_raise(line))
      return concat("it is written for Python 2: ", trim(line.whole).substr(0, 60));
    if (is_old_async(line.text))
      return concat("it uses async as a name, which Python 3.7 and later refuse: ",
                    trim(line.whole).substr(0, 60));
  }
  return lines.open_at_end() ? "it ends in the middle of a statement" : "";
}

std::string syntax_trouble(std::string_view source) { return syntax_trouble(SourceLines(source)); }

}  // namespace plimsoll::doctor
