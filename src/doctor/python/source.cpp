#include "doctor/python/source.h"

#include "doctor/python/text.h"

namespace plimsoll::doctor {
namespace {

// Walks over source text by logical lines, as Python's tokenizer does: strings, comments and brackets are
// passed over.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}

  bool done() const { return at_ >= text_.size(); }

  // The next logical line without comments and line breaks; strings are left out.
  std::string next() {
    std::string line;
    int depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n' && depth == 0) break;
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '"' || c == '\'') {
        skip_string(c);
      } else if (c == '\\' && at_ + 1 < text_.size()) {
        at_ += text_.substr(at_).starts_with("\\\r\n") ? 3 : 2;
        line += ' ';
      } else {
        depth += c == '(' || c == '[' || c == '{' ? 1 : 0;
        depth -= (c == ')' || c == ']' || c == '}') && depth > 0 ? 1 : 0;
        line += c == '\n' || c == '\r' ? ' ' : c;
        ++at_;
      }
    }
    ++at_;
    return line;
  }

 private:
  void skip_string(char quote) {
    const std::string triple(3, quote);
    const bool is_triple = text_.substr(at_).starts_with(triple);
    at_ += is_triple ? 3 : 1;
    while (at_ < text_.size()) {
      if (text_[at_] == '\\') {
        at_ += 2;
      } else if (is_triple ? text_.substr(at_).starts_with(triple) : text_[at_] == quote) {
        at_ += is_triple ? 3 : 1;
        return;
      } else if (!is_triple && text_[at_] == '\n') {
        return;  // not closed: an error of the file, or not Python
      } else {
        ++at_;
      }
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

std::string_view first_word(std::string_view text) {
  text = trim(text);
  return text.substr(0, text.find_first_of(" \t"));
}

ImportStatement parse_from(std::string_view rest) {
  ImportStatement s;
  rest = trim(rest);
  while (!rest.empty() && (rest.front() == '.' || rest.front() == ' ')) {
    s.level += rest.front() == '.' ? 1 : 0;
    rest.remove_prefix(1);
  }
  const size_t import = rest.starts_with("import") ? 0 : rest.find(" import");
  if (import == std::string_view::npos) return {};
  s.module = std::string(trim(rest.substr(0, import)));
  rest = rest.substr(import);
  rest.remove_prefix(std::min(rest.size(), rest.find("import") + 6));
  for (const std::string_view name : split(rest, ",()")) {
    if (const std::string_view word = first_word(name); !word.empty() && word != "*")
      s.names.emplace_back(word);
  }
  return s;
}

}  // namespace

std::vector<ImportStatement> unconditional_imports(std::string_view source) {
  std::vector<ImportStatement> all;
  for (Lines lines(source); !lines.done();) {
    const std::string line = lines.next();
    for (const std::string_view part : split(line, ";")) {
      // Only what begins at the margin; after a semicolon, what follows such.
      const bool first = part.data() == line.data();
      if (first && (part.empty() || is_space(part.front()))) break;
      const std::string_view statement = trim(part);
      if (statement.starts_with("import ") || statement.starts_with("import\t")) {
        for (const std::string_view name : split(statement.substr(7), ",")) {
          if (const std::string_view word = first_word(name); !word.empty())
            all.push_back({0, std::string(word), {}});
        }
      } else if (statement.starts_with("from ") || statement.starts_with("from.")) {
        ImportStatement s = parse_from(statement.substr(4));
        if (s.level > 0 || !s.module.empty()) all.push_back(std::move(s));
      } else if (first) {
        break;
      }
    }
  }
  return all;
}

}  // namespace plimsoll::doctor
