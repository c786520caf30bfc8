#include "doctor/python/condition.h"

#include <algorithm>
#include <charconv>

#include "doctor/python/text.h"

namespace plimsoll::doctor {
namespace {

constexpr int kDeepest = 20;

// The parts between `word` outside of brackets.
std::vector<std::string_view> split_at(std::string_view text, std::string_view word) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' || text[i] == '[' ? 1 : text[i] == ')' || text[i] == ']' ? -1 : 0;
    if (depth != 0 || !text.substr(i).starts_with(word)) continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + word.size();
    i = begin - 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::string_view without_brackets(std::string_view text) {
  text = trim(text);
  while (text.size() > 1 && text.front() == '(' && text.back() == ')') {
    int depth = 0;
    for (size_t i = 0; i + 1 < text.size(); ++i) {
      depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
      if (depth == 0) return text;  // (a) == (b)
    }
    text = trim(text.substr(1, text.size() - 2));
  }
  return text;
}

struct Comparison {
  std::string_view left, op, right;
};

std::optional<Comparison> comparison(std::string_view text) {
  for (const std::string_view op : {">=", "<=", "==", "!=", ">", "<"}) {
    const size_t at = text.find(op);
    if (at != std::string_view::npos)
      return Comparison{trim(text.substr(0, at)), op, trim(text.substr(at + op.size()))};
  }
  return std::nullopt;
}

bool compare(int order, std::string_view op) {
  if (op == ">=") return order >= 0;
  if (op == "<=") return order <= 0;
  if (op == "==") return order == 0;
  if (op == "!=") return order != 0;
  return op == ">" ? order > 0 : order < 0;
}

std::vector<uint64_t> numbers_in(std::string_view text) {
  std::vector<uint64_t> all;
  for (const std::string_view part : split(without_brackets(text), ",")) {
    const std::string_view number = trim(part);
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc() || end != number.data() + number.size()) break;
    all.push_back(value);
  }
  return all;
}

std::optional<bool> version_condition(const Comparison& c, const SourceReader& reader) {
  std::vector<uint64_t> have = {reader.major, reader.minor, 99};
  const std::string_view part = c.left.substr(c.left.find("version_info") + 12);
  if (part == "[0]" || part == ".major")
    have.resize(1);
  else if (part == "[1]" || part == ".minor")
    have = {reader.minor};
  else if (part == "[:2]" || part == "[0:2]")
    have.resize(2);
  else if (!part.empty() && part != "[:3]")
    return std::nullopt;
  const std::vector<uint64_t> want = numbers_in(c.right);
  if (want.empty()) return std::nullopt;
  const int order = have < want ? -1 : have == want ? 0 : 1;
  return compare(order, c.op);
}

// 'linux' of "'linux'"; empty if it is no text.
std::string_view text_in(std::string_view word) {
  const bool quoted =
      word.size() > 1 && (word.front() == '\'' || word.front() == '"') && word.back() == word.front();
  return quoted ? word.substr(1, word.size() - 2) : std::string_view();
}

std::string_view system_name(std::string_view asked, const SourceReader& reader) {
  if (asked == "sys.platform") return reader.is_macos ? "darwin" : "linux";
  if (asked == "os.name") return "posix";
  if (asked == "platform.system()") return reader.is_macos ? "Darwin" : "Linux";
  return "";
}

std::optional<bool> system_condition(std::string_view text, const SourceReader& reader) {
  constexpr std::string_view kStarts = ".startswith(";
  const size_t starts = text.find(kStarts);
  if (starts != std::string_view::npos && text.back() == ')') {
    const std::string_view name = system_name(text.substr(0, starts), reader);
    const std::string_view wanted =
        text_in(trim(text.substr(starts + kStarts.size(), text.size() - starts - kStarts.size() - 1)));
    if (!name.empty() && !wanted.empty()) return name.starts_with(wanted);
    return std::nullopt;
  }
  const auto c = comparison(text);
  if (!c || (c->op != "==" && c->op != "!=")) return std::nullopt;
  const std::string_view name = system_name(c->left, reader), wanted = text_in(c->right);
  if (name.empty() || wanted.empty()) return std::nullopt;
  return compare(name == wanted ? 0 : 1, c->op);
}

std::optional<bool> decide_name(std::string_view name) {
  const std::string_view last =
      name.substr(name.rfind('.') == std::string_view::npos ? 0 : name.rfind('.') + 1);
  if (last == "TYPE_CHECKING" || name == "False" || name == "0" || last == "PY2") return false;
  if (name == "True" || name == "1" || last == "PY3" || name == "__debug__") return true;
  // Set by a setup.py while it builds the package: __NUMPY_SETUP__, __SKLEARN_SETUP__.
  if (name.starts_with("__") && name.ends_with("_SETUP__")) return false;
  return std::nullopt;
}

std::optional<bool> decide_part(std::string_view text, const SourceReader& reader, int depth);

std::optional<bool> decide_all(std::string_view text, std::string_view word, bool ends,
                               const SourceReader& reader, int depth) {
  bool unknown = false;
  for (const std::string_view part : split_at(text, word)) {
    const std::optional<bool> value = decide_part(part, reader, depth + 1);
    if (value == ends) return ends;
    unknown |= !value;
  }
  return unknown ? std::nullopt : std::optional(!ends);
}

std::optional<bool> decide_part(std::string_view text, const SourceReader& reader, int depth) {
  text = without_brackets(text);
  if (text.empty() || depth > kDeepest) return std::nullopt;
  if (split_at(text, " or ").size() > 1) return decide_all(text, " or ", true, reader, depth);
  if (split_at(text, " and ").size() > 1) return decide_all(text, " and ", false, reader, depth);
  if (text.starts_with("not ")) {
    const auto value = decide_part(text.substr(4), reader, depth + 1);
    return value ? std::optional(!*value) : std::nullopt;
  }
  if (const auto named = decide_name(text)) return named;
  if (const auto of_system = system_condition(text, reader)) return of_system;
  const auto c = comparison(text);
  if (c && (c->left.starts_with("sys.version_info") || c->left.starts_with("version_info")))
    return version_condition(*c, reader);
  if (c && c->left == "__name__" && c->op == "==") return reader.program;
  return std::nullopt;
}

}  // namespace

std::optional<bool> decide(std::string_view condition, const SourceReader& reader) {
  return decide_part(condition, reader, 0);
}

}  // namespace plimsoll::doctor
