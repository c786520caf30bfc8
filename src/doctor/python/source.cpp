#include "doctor/python/source.h"

#include <algorithm>

#include "doctor/python/text.h"

namespace plimsoll::doctor {
namespace {

// Walks over source text by logical lines, as Python's tokenizer does: strings, comments and brackets are
// passed over.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}

  bool done() const { return at_ >= text_.size(); }

  // The next logical line without comments and line breaks; strings are left out. Valid until the next call.
  const std::string& next() {
    std::string& line = line_;
    line.clear();
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
  std::string line_;
  size_t at_ = 0;
};

bool is_word(char c) { return is_alphanumeric(c) || c == '_' || static_cast<unsigned char>(c) >= 128; }

std::string_view first_word(std::string_view text) {
  text = trim(text);
  return text.substr(0, text.find_first_of(" \t"));
}

// "b" of "a as b", else "a".
std::string_view bound_name(std::string_view text) {
  text = trim(text);
  const size_t as = text.find(" as ");
  return as == std::string_view::npos ? first_word(text) : first_word(text.substr(as + 4));
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
    const std::string_view word = first_word(name);
    s.star |= word == "*";
    if (word.empty() || word == "*") continue;
    s.names.emplace_back(word);
    s.bound.emplace_back(bound_name(name));
  }
  return s;
}

// The imports of one statement; nothing if it is none.
void add_imports(std::string_view statement, std::vector<ImportStatement>& all) {
  if (statement.starts_with("import ") || statement.starts_with("import\t")) {
    for (const std::string_view name : split(statement.substr(7), ",")) {
      const std::string_view word = first_word(name);
      if (word.empty()) continue;
      const std::string_view bound = bound_name(name);
      all.push_back({0, std::string(word), {}, {std::string(bound.substr(0, bound.find('.')))}, false});
    }
  } else if (statement.starts_with("from ") || statement.starts_with("from.")) {
    ImportStatement s = parse_from(statement.substr(4));
    if (s.level > 0 || !s.module.empty()) all.push_back(std::move(s));
  }
}

// Calls f(word, is the name of an attribute) for each word.
template <class F>
void for_each_word(std::string_view line, const F& f) {
  char before = ' ';
  for (size_t at = 0; at < line.size();) {
    if (!is_word(line[at])) {
      if (line[at] != ' ') before = line[at];
      ++at;
      continue;
    }
    const size_t begin = at;
    while (at < line.size() && is_word(line[at])) ++at;
    const bool number = is_digit(line[begin]);
    if (!number) f(line.substr(begin, at - begin), before == '.');
    before = 'x';
  }
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Whether parts of a line may not be evaluated, or only in case.
bool is_doubtful(std::string_view line) {
  bool doubtful = false;
  for_each_word(line, [&](std::string_view word, bool) {
    doubtful |= is_one_of(word, {"if", "else", "and", "or", "lambda", "for", "hasattr", "getattr", "try"});
  });
  return doubtful;
}

// The defaults of `def f(a, b: T = x.y):`; annotations may never be evaluated.
std::string defaults_of(std::string_view line) {
  std::string out;
  int depth = 0;
  bool value = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    if (depth == 0) value = false;
    if (depth == 1 && c == ',') value = false;
    if (value) out += c;
    if (depth == 1 && c == '=') value = true;
    if (depth == 1 && c == ',') out += ' ';
  }
  return out;
}

// What follows the first lone '=' outside of brackets; the whole line if there is none.
std::string_view assigned(std::string_view line) {
  int depth = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    if (depth != 0 || c != '=') continue;
    if (i + 1 < line.size() && line[i + 1] == '=') return line;
    return line.substr(i + 1);
  }
  const size_t colon = line.find(':');
  return line.substr(0, colon == std::string_view::npos ? line.size() : 0);  // a bare annotation
}

// The part of a statement that is evaluated when it is come by; empty where that is not sure.
std::string evaluated(std::string_view statement) {
  if (statement.starts_with("def ") || statement.starts_with("async def ")) return defaults_of(statement);
  const std::string_view word = statement.substr(0, statement.find_first_of(" \t(:,"));
  if (statement.starts_with('@') || word == "class") return std::string(statement);
  if (is_one_of(word, {"if",       "elif",   "else", "try",  "except", "finally", "with",  "for",    "while",
                       "async",    "match",  "case", "type", "del",    "assert",  "raise", "return", "global",
                       "nonlocal", "import", "from", "pass", "lambda", "yield",   "await", "print"}))
    return "";
  return std::string(assigned(statement));
}

void add_chains(std::string_view statement, std::vector<std::string>& chains) {
  const std::string text = evaluated(statement);
  if (text.find('.') == std::string::npos || is_doubtful(text)) return;
  std::string chain;
  size_t end = 0;  // of the word before
  const auto finish = [&] {
    if (chain.find('.') != std::string::npos) chains.push_back(chain);
    chain.clear();
  };
  for_each_word(text, [&](std::string_view word, bool attribute) {
    const auto at = static_cast<size_t>(word.data() - text.data());
    const bool joined = attribute && !chain.empty() && at == end + 1 && text[end] == '.';
    if (!joined) finish();
    if (joined)
      chain.append(1, '.').append(word);
    else if (!attribute)
      chain = word;
    end = at + word.size();
  });
  finish();
}

size_t indentation(std::string_view line) {
  const size_t at = line.find_first_not_of(" \t");
  return at == std::string_view::npos ? 0 : at;
}

}  // namespace

SourceReading read_source(std::string_view source, bool with_chains) {
  SourceReading reading;
  bool in_class = false;
  size_t class_indentation = 0;  // of its statements; zero: not seen yet
  for (Lines lines(source); !lines.done();) {
    const std::string& line = lines.next();
    const std::string_view whole = trim(line);
    if (whole.empty()) continue;
    const size_t indent = indentation(line);
    if (indent > 0) {
      // The body of a class runs when the class is made.
      if (!in_class || !with_chains) continue;
      if (class_indentation == 0) class_indentation = indent;
      if (indent == class_indentation) add_chains(whole, reading.chains);
      continue;
    }
    in_class = whole.starts_with("class ");
    class_indentation = 0;
    const bool import = whole.starts_with("import") || whole.starts_with("from");
    if (import && whole.find(';') != std::string_view::npos) {
      for (const std::string_view part : split(whole, ";")) add_imports(trim(part), reading.imports);
    } else if (import) {
      add_imports(whole, reading.imports);
    }
    if (with_chains && !import) add_chains(whole, reading.chains);
  }
  return reading;
}

namespace {

// The texts in `__all__ = ['a', "b"]`; nothing if it is made in another way.
std::optional<std::set<std::string, std::less<>>> read_exports(std::string_view source) {
  constexpr std::string_view kName = "__all__";
  const size_t at = source.find(kName);
  if (at == std::string_view::npos || (at > 0 && source[at - 1] != '\n') ||
      source.find(kName, at + 1) != std::string_view::npos)
    return std::nullopt;
  std::string_view rest = trim(source.substr(at + kName.size()));
  if (!rest.starts_with('=')) return std::nullopt;
  rest = trim(rest.substr(1));
  if (!rest.starts_with('[') && !rest.starts_with('(')) return std::nullopt;
  const size_t end = rest.find(rest[0] == '[' ? ']' : ')');
  if (end == std::string_view::npos) return std::nullopt;
  std::set<std::string, std::less<>> names;
  for (const std::string_view line : split(rest.substr(1, end - 1), "\n")) {
    for (const std::string_view item : split(line.substr(0, line.find('#')), ",")) {
      const std::string_view text = trim(item);
      if (text.empty()) continue;
      if (text.size() < 2 || (text[0] != '\'' && text[0] != '"') || text.back() != text[0])
        return std::nullopt;
      names.emplace(text.substr(1, text.size() - 2));
    }
  }
  return names;
}

}  // namespace

ModuleNames read_names(std::string_view source, bool modules_count) {
  ModuleNames names;
  names.exported = read_exports(source);
  names.open = modules_count && contains(source, "sys.modules");
  for (Lines lines(source); !lines.done();) {
    const std::string& line = lines.next();
    const std::string_view whole = trim(line);
    if (whole.starts_with("from") && contains(whole, "*")) {
      std::vector<ImportStatement> found;
      add_imports(whole, found);
      for (ImportStatement& s : found) {
        if (s.star) names.stars.push_back(std::move(s));
      }
    }
    for_each_word(line, [&](std::string_view word, bool attribute) {
      if (attribute) return;
      names.lazy |= word == "__getattr__";
      names.open |= is_one_of(word, {"globals", "locals", "vars", "exec", "setattr", "__path__"});
      names.words.emplace(word);
    });
  }
  // One that looks names up elsewhere can know any.
  if (names.lazy && (has_word(source, "getattr") || has_word(source, "import_module"))) names.open = true;
  if (names.lazy) names.text = source;
  return names;
}

bool has_word(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) return true;
  }
  return false;
}

}  // namespace plimsoll::doctor
