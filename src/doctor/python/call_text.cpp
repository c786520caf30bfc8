#include "doctor/python/call_text.h"

#include <algorithm>

#include "doctor/python/source.h"
#include "doctor/python/source_lines.h"
#include "doctor/python/text.h"

namespace plimsoll::doctor {
namespace {

constexpr size_t kNone = std::string_view::npos;

int bracket(char c) {
  return c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Where `c` stands outside of brackets: not as a part of :=, ==, <= and the like.
size_t find_outside(std::string_view text, char c, size_t from = 0) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += bracket(text[i]);
    if (i < from || depth != 0 || text[i] != c) continue;
    const char before = i > 0 ? text[i - 1] : ' ', after = i + 1 < text.size() ? text[i + 1] : ' ';
    const bool part = c == '=' ? after == '=' || contains("=!<>:", std::string_view(&before, 1)) : after == '=';
    if (!part) return i;
    if (c == '=' && after == '=') ++i;
  }
  return kNone;
}

// A text with what stands in brackets left out.
std::string outside_of(std::string_view text) {
  std::string out;
  int depth = 0;
  for (const char c : text) {
    if (bracket(c) < 0) --depth;
    if (depth == 0 && bracket(c) == 0) out += c;
    if (bracket(c) > 0) ++depth;
  }
  return out;
}

// It begins a lambda and ends before its colon: a comma between its parameters has cut it off.
bool is_open_lambda(std::string_view part) {
  const std::string text = outside_of(part);
  return has_word(text, "lambda") && !contains(text, ":");
}

std::string_view first_word(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && is_word_character(text[end])) ++end;
  return text.substr(0, end);
}

bool is_name(std::string_view text) {
  return !text.empty() && first_word(text).size() == text.size() && !is_digit(text[0]);
}

void add_words(std::string_view text, std::vector<std::string>& all) {
  for_each_word(text, [&](std::string_view word, bool attribute) {
    if (!attribute) all.emplace_back(word);
  });
}

// for x in, lambda x:, x := value, wherever they stand.
void add_inner(std::string_view text, std::vector<std::string>& all) {
  for (size_t at = 0; at < text.size(); ++at) {
    if (at > 0 && is_word_character(text[at - 1])) continue;
    const std::string_view rest = text.substr(at), word = first_word(rest);
    if (word == "for") add_words(rest.substr(0, rest.find(" in ")).substr(3), all);
    if (word == "lambda") add_words(rest.substr(0, rest.find(':')).substr(6), all);
    if (!word.empty() && trim(rest.substr(word.size())).starts_with(":=")) all.emplace_back(word);
  }
}

}  // namespace

std::string_view text_in_brackets(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    depth += bracket(text[i]);
    if (depth == 0) return text.substr(open + 1, i - open - 1);
  }
  return text.substr(std::min(text.size(), open + 1));
}

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += bracket(text[i]);
    if (depth != 0 || text[i] != ',') continue;
    parts.push_back(trim(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  if (const std::string_view last = trim(text.substr(begin)); !last.empty() || parts.empty())
    parts.push_back(last);
  return parts;
}

std::optional<Signature> read_signature(std::string_view statement) {
  const size_t open = statement.find('('), generic = statement.find('[');
  if (open == kNone || generic < open) return std::nullopt;
  const std::string_view text = text_in_brackets(statement, open);
  if (has_word(text, "lambda")) return std::nullopt;
  Signature s;
  bool by_position = true;
  if (trim(text).empty()) return s;
  for (const std::string_view part : split_at_commas(text)) {
    const std::string_view word = first_word(part.substr(std::min(part.size(), part.find_first_not_of('*'))));
    if (part == "/") {
      for (Parameter& p : s.parameters) p.by_name = false;
    } else if (part.starts_with("**")) {
      s.keywords = word;
    } else if (part.starts_with('*')) {
      by_position = false;
      s.rest = word;
    } else if (is_name(word)) {
      s.parameters.push_back({std::string(word), find_outside(part, '=') != kNone, by_position, true});
    } else {
      return std::nullopt;
    }
  }
  return s;
}

Arguments read_arguments(std::string_view text) {
  Arguments a;
  a.maybe_one_more = trim(text).empty() || trim(text).ends_with(',');
  if (trim(text).empty()) return a;
  if (has_word(outside_of(text), "for")) {  // f(a for a, b in c): the brackets hold one thing
    a.by_position = 1;
    return a;
  }
  bool in_lambda = false;
  for (const std::string_view part : split_at_commas(text)) {
    const size_t equals = find_outside(part, '=');
    const std::string_view name = equals == kNone ? std::string_view() : trim(part.substr(0, equals));
    if (in_lambda) {
      in_lambda = !contains(outside_of(part), ":");
      continue;
    }
    in_lambda = is_open_lambda(part);
    if (part.starts_with('*'))
      a.unpacks = true;
    else if (is_name(name))
      a.names.emplace_back(name);
    else
      ++a.by_position;
  }
  return a;
}

std::vector<std::string> bound_by(std::string_view text) {
  std::vector<std::string> all;
  text = trim(text);
  if (text.starts_with("async ")) text = trim(text.substr(6));
  const std::string_view word = first_word(text);
  if (word == "def" || word == "class") {
    all.emplace_back(first_word(trim(text.substr(word.size()))));
    const auto signature = word == "def" ? read_signature(text) : std::nullopt;
    if (!signature && word == "def") add_words(text, all);
    if (signature) {
      for (const Parameter& p : signature->parameters) all.push_back(p.name);
      all.push_back(signature->rest);
      all.push_back(signature->keywords);
    }
    return all;
  }
  add_inner(text, all);
  const bool header = is_one_of(word, {"if", "elif", "else", "try", "while", "for", "with", "except", "finally"});
  if (header) {
    const size_t colon = find_outside(text, ':');
    const std::string_view head = text.substr(0, colon);
    for (size_t as = head.find(" as "); as != kNone; as = head.find(" as ", as + 1)) {
      const std::string_view rest = head.substr(as + 4);
      add_words(rest.substr(0, rest.starts_with('(') ? rest.find(')') : rest.find_first_of(",)")), all);
    }
    if (colon != kNone && colon + 1 < text.size()) {
      for (std::string& name : bound_by(text.substr(colon + 1))) all.push_back(std::move(name));
    }
    return all;
  }
  if (is_one_of(word, {"global", "nonlocal", "del"})) add_words(text.substr(word.size()), all);
  size_t last = kNone;
  for (size_t at = find_outside(text, '='); at != kNone; at = find_outside(text, '=', at + 1)) last = at;
  if (last == kNone) return all;
  const std::string_view targets = text.substr(0, last);
  add_words(targets.substr(0, find_outside(targets, ':')), all);
  return all;
}

}  // namespace plimsoll::doctor
