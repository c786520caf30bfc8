#include "doctor/python/source.h"

#include <algorithm>
#include <map>

#include "doctor/python/condition.h"
#include "doctor/python/source_lines.h"
#include "doctor/python/text.h"

namespace plimsoll::doctor {
namespace {

constexpr int kDeepest = 60;  // blocks and calls inside of one another

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

int bracket(char c) {
  return c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
}

// The defaults of `def f(a, b: T = x.y):`; annotations may never be evaluated.
std::string defaults_of(std::string_view line) {
  std::string out;
  int depth = 0;
  bool value = false;
  for (const char c : line) {
    depth += bracket(c);
    if (depth == 0) value = false;
    if (depth == 1 && c == ',') value = false;
    if (value) out += c;
    if (depth == 1 && c == '=') value = true;
    if (depth == 1 && c == ',') out += ' ';
  }
  return out;
}

// Where the first lone '=' outside of brackets stands.
size_t find_assignment(std::string_view line) {
  int depth = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    depth += bracket(line[i]);
    if (depth != 0 || line[i] != '=') continue;
    const bool compares = (i + 1 < line.size() && line[i + 1] == '=') ||
                          (i > 0 && is_one_of(line.substr(i - 1, 1), {"=", "!", "<", ">", ":"}));
    return compares ? std::string_view::npos : i;
  }
  return std::string_view::npos;
}

// What is assigned; the whole line if it is no assignment.
std::string_view assigned(std::string_view line) {
  if (const size_t equals = find_assignment(line); equals != std::string_view::npos)
    return line.substr(equals + 1);
  const size_t colon = line.find(':');
  const bool annotation =
      colon != std::string_view::npos && line.substr(0, colon).find_first_of("([{") == std::string_view::npos;
  return annotation ? std::string_view() : line;
}

// The header of a compound statement, and what follows its colon on the same line.
std::pair<std::string_view, std::string_view> split_header(std::string_view line) {
  int depth = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    depth += bracket(line[i]);
    const bool walrus = i + 1 < line.size() && line[i + 1] == '=';
    if (depth == 0 && line[i] == ':' && !walrus) return {line.substr(0, i), trim(line.substr(i + 1))};
  }
  return {line, {}};
}

std::string_view keyword_of(std::string_view statement) {
  return statement.substr(0, statement.find_first_of(" \t(:,[{"));
}

// What a try statement keeps from its surroundings.
struct Catches {
  bool imports = false, attributes = false;
};

Catches catches_of(std::string_view except) {
  Catches c;
  bool named = false;
  std::string_view types = split_header(except).first.substr(6);
  types = types.substr(0, types.find(" as "));
  for_each_word(types, [&](std::string_view word, bool) {
    named = true;
    c.imports |= is_one_of(word, {"ImportError", "ModuleNotFoundError"});
    c.attributes |= word == "AttributeError";
    const bool builtin =
        (word.ends_with("Error") || word.ends_with("Warning")) && !is_one_of(word, {"EnvironmentError"});
    if (!builtin && !is_one_of(word, {"KeyboardInterrupt", "SystemExit", "StopIteration"}))
      c.imports = c.attributes = true;  // Exception, or what someone calls so
  });
  return named ? c : Catches{true, true};
}

bool is_leaving(std::string_view keyword) { return is_one_of(keyword, {"return", "continue", "break"}); }

class Walk {
 public:
  Walk(std::string_view source, const SourceReader& reader) : lines_(source), reader_(reader) {}

  SourceReading run() {
    find_functions();
    block(0, lines_.size(), {});
    reading_.trouble = syntax_trouble(lines_);
    return std::move(reading_);
  }

 private:
  struct Context {
    Catches caught;
    int tried = -1, fallback = -1, depth = 0;
    bool in_class = false, insisted = false;
  };
  // Functions at the margin, by name: these the file itself may call. Classes too, of a program.
  void find_functions() {
    for (size_t i = 0; i < lines_.size(); ++i) {
      const std::string_view text = lines_[i].text;
      const bool function = text.starts_with("def "), made = reader_.program && text.starts_with("class ");
      if (lines_[i].indent != 0 || (!function && !made)) continue;
      const std::string_view rest = text.substr(function ? 4 : 6);
      functions_[std::string(trim(rest.substr(0, rest.find_first_of("(:"))))] = i;
    }
  }

  // The statements of lines [begin, end), which stand below one another. False: what follows may not run.
  bool block(size_t begin, size_t end, Context c) {
    if (++c.depth > kDeepest) return false;
    for (size_t i = begin; i < end;) {
      const size_t next = std::min(lines_.block_end(i), end);
      const std::string_view text = lines_[i].text, word = keyword_of(text);
      size_t after = next;
      if (word == "if") {
        if (!conditional(i, end, c, after)) return false;
      } else if (split_header(text).first == "try") {
        attempt(i, end, c, after);
        if (may_leave(i, after)) return false;
      } else if (!statement(i, next, word, c)) {
        return false;
      }
      i = after;
    }
    return true;
  }

  // Whether lines [begin, end) may leave the function or the loop they are in.
  bool may_leave(size_t begin, size_t end) const {
    for (size_t i = begin; i < end; ++i) {
      const std::string_view text = lines_[i].text;
      if (text.starts_with("def ") || text.starts_with("async def ") || text.starts_with("class "))
        i = lines_.block_end(i) - 1;
      else if (is_leaving(keyword_of(text)) || is_leaving(keyword_of(split_header(text).second)))
        return true;
    }
    return false;
  }

  bool has_return(size_t begin, size_t end) const {
    for (size_t i = begin; i < end; ++i) {
      if (keyword_of(lines_[i].text) == "return" && may_leave(begin, end)) return true;
    }
    return false;
  }

  bool body(size_t i, size_t next, const Context& c) {
    const std::string_view rest = split_header(lines_[i].text).second;
    if (!rest.empty()) return simple(rest, c);
    return block(i + 1, next, c);
  }

  // if, elif, else; `after` is set to the line behind it.
  bool conditional(size_t i, size_t end, const Context& c, size_t& after) {
    bool decided = true, taken = false, goes_on = true;
    while (true) {
      const size_t next = std::min(lines_.block_end(i), end);
      const std::string_view word = keyword_of(lines_[i].text);
      const std::optional<bool> value = word == "else" ? std::optional(true) : condition_of(i, word.size());
      if (decided && !taken && value == true) {
        taken = true;
        goes_on = body(i, next, c);
      } else if (!taken && value != false) {
        decided = false;  // this one or a later one may run
        if (may_leave(i, next)) goes_on = false;
      }
      i = next;
      const std::string_view then = i < end ? keyword_of(lines_[i].text) : std::string_view();
      if (then != "elif" && then != "else") break;
    }
    after = i;
    return goes_on;
  }

  std::optional<bool> condition_of(size_t i, size_t skip) const {
    std::string_view whole = trim(lines_[i].whole);
    if (whole.size() < skip) return std::nullopt;
    whole = split_header(whole.substr(0, whole.find('#'))).first;
    return decide(whole.substr(std::min(skip, whole.size())), reader_);
  }

  // A handler that raises catches nothing.
  bool raises(size_t i, size_t next) const {
    const std::string_view rest = split_header(lines_[i].text).second;
    if (!rest.empty()) return keyword_of(rest) == "raise";
    for (size_t k = i + 1; k < next; ++k) {
      if (lines_[k].indent == lines_[i + 1].indent && keyword_of(lines_[k].text) == "raise") return true;
    }
    return false;
  }

  void attempt(size_t i, size_t end, const Context& c, size_t& after) {
    const size_t body_at = i, body_end = std::min(lines_.block_end(i), end);
    std::vector<std::pair<size_t, size_t>> handlers, endings;
    Catches caught;
    bool insisted = false;
    i = body_end;
    while (i < end && is_one_of(keyword_of(lines_[i].text), {"except", "else", "finally", "except*"})) {
      const size_t next = std::min(lines_.block_end(i), end);
      if (!lines_[i].text.starts_with("except")) {
        if (lines_[i].text.starts_with("finally")) endings.emplace_back(i, next);
      } else if (!raises(i, next)) {
        const Catches one = catches_of(lines_[i].text);
        caught.imports |= one.imports;
        caught.attributes |= one.attributes;
        if (one.imports) handlers.emplace_back(i, next);
      } else {
        insisted |= catches_of(lines_[i].text).imports;
      }
      i = next;
    }
    after = i;
    Context inner = c;
    const int number = tries_++;
    inner.caught.imports |= caught.imports;
    inner.caught.attributes |= caught.attributes;
    if (caught.imports) inner.tried = number;
    inner.insisted |= insisted && !caught.imports;
    body(body_at, body_end, inner);
    for (const auto& [at, next] : handlers) fallback(at, next, c, number);
    for (const auto& [at, next] : endings) body(at, next, c);
  }

  // Imports that are made if those of the try block fail.
  void fallback(size_t i, size_t next, Context c, int number) {
    if (c.tried >= 0 || c.fallback >= 0) return;  // one inside another: too far
    c.fallback = number;
    body(i, next, c);
  }

  void with(size_t i, size_t next, Context c) {
    bool harmless = false;
    for_each_word(lines_[i].text, [&](std::string_view word, bool) {
      harmless |= is_one_of(word, {"catch_warnings", "errstate", "open", "printoptions"}) ||
                  word.ends_with("lock") || word.ends_with("Lock");
    });
    if (!harmless) c.caught = {true, true};  // optuna: with try_import()
    if (!harmless) c.tried = tries_++;
    body(i, next, c);
  }

  // One statement with its block. False: what follows does not run, or may not.
  bool statement(size_t i, size_t next, std::string_view word, const Context& c) {
    const std::string_view text = lines_[i].text;
    if (word == "class") {
      chains(split_header(text).first, c);
      Context inner = c;
      inner.in_class = true;
      body(i, next, inner);
    } else if (word == "with") {
      with(i, next, c);
      return !may_leave(i, next);
    } else if (word == "for") {
      const std::string_view header = split_header(text).first;
      add_assigned(header.substr(3, header.find(" in ") - 3));
      body(i, next, c);
      return !has_return(i, next);
    } else if (word == "def" || text.starts_with("async def ")) {
      chains(defaults_of(text), c);
    } else if (is_one_of(word, {"while", "match", "elif", "else", "except", "finally", "async"})) {
      return !has_return(i, next);
    } else {
      return simple(text, c);
    }
    return true;
  }

  // Statements of one line.
  bool simple(std::string_view text, const Context& c) {
    for (const std::string_view part : split(text, ";")) {
      const std::string_view one = trim(part), word = keyword_of(one);
      if (word == "return") expression(trim(one.substr(6)), c);
      if (is_leaving(word) || word == "raise") return false;
      if (word == "import" || word == "from" || one.starts_with("from.")) {
        const size_t first = reading_.imports.size();
        add_imports(one, reading_.imports);
        for (size_t k = first; k < reading_.imports.size(); ++k) {
          reading_.imports[k].tried = c.tried;
          reading_.imports[k].fallback = c.fallback;
          reading_.imports[k].insisted = c.insisted;
          reading_.imports[k].all_caught = c.caught.imports && c.caught.attributes;
        }
      } else if (word == "print" && !reader_.program) {
        continue;  // what packages print at import, if anything
      } else if (!is_one_of(word, {"del", "assert", "global", "nonlocal", "pass", "yield", "await", "type",
                                   "if", "for", "while"})) {
        expression(one, c);
      }
    }
    return true;
  }

  void expression(std::string_view text, const Context& c) {
    if (const size_t equals = find_assignment(text);
        equals != std::string_view::npos && !c.in_class && c.fallback < 0)
      add_assigned(text.substr(0, equals));
    const std::string_view value = text.starts_with('@') ? text : assigned(text);
    if (is_doubtful(value)) return;
    chains(value, c);
    calls(value, c);
  }

  // Only plain names: `a.b = c` and `a[b] = c` leave `a` what it is.
  void add_assigned(std::string_view targets) {
    for (const std::string_view target : split(targets, ",=()[]")) {
      const std::string_view name = trim(target.substr(0, target.find(':')));
      if (!name.empty() && std::all_of(name.begin(), name.end(), is_word_character))
        reading_.assigned.emplace(name);
    }
  }

  void chains(std::string_view text, const Context& c) {
    if (!reader_.with_chains || c.caught.attributes || c.fallback >= 0 ||
        text.find('.') == std::string_view::npos || is_doubtful(text))
      return;
    std::string chain;
    size_t end = 0;  // of the word before
    const auto finish = [&] {
      if (chain.find('.') != std::string::npos) reading_.chains.push_back(chain);
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

  // Functions of this file that are called here, once each.
  void calls(std::string_view text, const Context& c) {
    if (functions_.empty() || c.tried >= 0 || c.fallback >= 0) return;
    const bool decorates = text.starts_with('@');
    for_each_word(text, [&](std::string_view word, bool attribute) {
      const auto end = static_cast<size_t>(word.data() - text.data()) + word.size();
      const bool called = (end < text.size() && text[end] == '(') || (decorates && word.data() == &text[1]);
      const auto found = attribute || !called ? functions_.end() : functions_.find(word);
      if (found == functions_.end()) return;
      const size_t line = found->second;
      functions_.erase(found);
      if (lines_[line].text.starts_with("class "))
        call_methods(line, c);
      else
        call(line, c);
    });
  }

  void call_methods(size_t line, const Context& c) {
    const size_t end = lines_.block_end(line);
    for (size_t i = line + 1; i < end; ++i) {
      if (lines_[i].indent == lines_[line + 1].indent && lines_[i].text.starts_with("def ")) call(i, c);
    }
  }

  void call(size_t line, Context c) {
    // What its parameters are called is no module.
    const std::string_view header = split_header(lines_[line].text).first;
    for_each_word(header, [&](std::string_view word, bool) { reading_.assigned.emplace(word); });
    const size_t end = lines_.block_end(line);
    for (size_t i = line; i < end; ++i) {
      if (has_word(lines_[i].text, "yield")) return;  // runs when someone asks for a value
    }
    c.in_class = false;
    body(line, end, c);
  }

  SourceLines lines_;
  SourceReader reader_;
  SourceReading reading_;
  std::map<std::string, size_t, std::less<>> functions_;
  int tries_ = 0;
};

}  // namespace

void add_imports(std::string_view statement, std::vector<ImportStatement>& all) {
  if (statement.starts_with("import ") || statement.starts_with("import\t")) {
    for (const std::string_view name : split(statement.substr(7), ",")) {
      const std::string_view word = first_word(name);
      if (word.empty()) continue;
      const std::string_view bound = bound_name(name);
      ImportStatement s;
      s.module = word;
      s.bound = {std::string(bound.substr(0, bound.find('.')))};
      all.push_back(std::move(s));
    }
  } else if (statement.starts_with("from ") || statement.starts_with("from.")) {
    ImportStatement s = parse_from(statement.substr(4));
    if (s.level > 0 || !s.module.empty()) all.push_back(std::move(s));
  }
}

SourceReading read_source(std::string_view source, const SourceReader& reader) {
  return Walk(source, reader).run();
}

}  // namespace plimsoll::doctor
