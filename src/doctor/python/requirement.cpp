#include "doctor/python/requirement.h"

#include "doctor/python/text.h"

namespace plimsoll::doctor {
namespace {

bool is_name_char(char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; }

// Markers are short; a deeper nesting is an attack on the stack.
constexpr int kDeepest = 64;

class MarkerParser {
 public:
  MarkerParser(std::string_view text, const MarkerValues& values, std::string_view extra)
      : rest_(text), values_(values), extra_(extra) {}

  std::optional<bool> whole() {
    const std::optional<bool> value = any(0);
    return value && trim(rest_).empty() ? value : std::nullopt;
  }

 private:
  struct Operand {
    std::string value;
    bool variable = false;
    std::string name;
  };

  void skip() { rest_ = rest_.substr(rest_.size() - trim_left(rest_).size()); }
  static std::string_view trim_left(std::string_view s) {
    while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
    return s;
  }
  bool take_word(std::string_view word) {
    skip();
    if (!rest_.starts_with(word)) return false;
    if (rest_.size() > word.size() && is_name_char(rest_[word.size()])) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool take(char c) {
    skip();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::optional<bool> any(int depth) {
    std::optional<bool> left = all(depth);
    while (left && take_word("or")) {
      const std::optional<bool> right = all(depth);
      if (!right) return std::nullopt;
      left = *left || *right;
    }
    return left;
  }
  std::optional<bool> all(int depth) {
    std::optional<bool> left = one(depth);
    while (left && take_word("and")) {
      const std::optional<bool> right = one(depth);
      if (!right) return std::nullopt;
      left = *left && *right;
    }
    return left;
  }
  std::optional<bool> one(int depth) {
    if (depth > kDeepest) return std::nullopt;
    if (take('(')) {
      const std::optional<bool> inner = any(depth + 1);
      return take(')') ? inner : std::nullopt;
    }
    const std::optional<Operand> left = operand();
    const std::string op = comparison();
    const std::optional<Operand> right = operand();
    if (!left || op.empty() || !right) return std::nullopt;
    return compare(*left, op, *right);
  }

  std::optional<Operand> operand() {
    skip();
    if (rest_.empty()) return std::nullopt;
    const char quote = rest_.front();
    if (quote == '\'' || quote == '"') {
      const size_t end = rest_.find(quote, 1);
      if (end == std::string_view::npos) return std::nullopt;
      Operand o{std::string(rest_.substr(1, end - 1)), false, ""};
      rest_.remove_prefix(end + 1);
      return o;
    }
    size_t length = 0;
    while (length < rest_.size() && is_name_char(rest_[length])) ++length;
    const std::string name(rest_.substr(0, length));
    rest_.remove_prefix(length);
    if (name == "extra") return Operand{std::string(extra_), true, name};
    const auto found = values_.find(name);
    if (found == values_.end()) return std::nullopt;
    return Operand{found->second, true, name};
  }

  std::string comparison() {
    skip();
    for (const std::string_view op : {"===", "~=", "==", "!=", "<=", ">=", "<", ">"}) {
      if (rest_.starts_with(op)) {
        rest_.remove_prefix(op.size());
        return std::string(op);
      }
    }
    if (take_word("in")) return "in";
    if (take_word("not")) return take_word("in") ? "not in" : "";
    return "";
  }

  static bool compare(const Operand& left, const std::string& op, const Operand& right) {
    if (op == "in") return contains(right.value, left.value);
    if (op == "not in") return !contains(right.value, left.value);
    if (left.name == "extra" || right.name == "extra") {
      return (normal_name(left.value) == normal_name(right.value)) == (op != "!=");
    }
    const std::optional<Specifiers> wanted = Specifiers::parse(op + right.value);
    const std::optional<Version> version = Version::parse(left.value);
    if (wanted && version) return wanted->contains(*version);
    if (op == "!=") return left.value != right.value;
    if (op == "==" || op == "===") return left.value == right.value;
    if (op == "<") return left.value < right.value;
    if (op == "<=") return left.value <= right.value;
    if (op == ">") return left.value > right.value;
    return left.value >= right.value;
  }

  std::string_view rest_;
  const MarkerValues& values_;
  std::string_view extra_;
};

}  // namespace

std::optional<Requirement> Requirement::parse(std::string_view text) {
  Requirement r;
  r.text = std::string(trim(text));
  std::string_view rest = r.text;
  size_t length = 0;
  while (length < rest.size() && is_name_char(rest[length])) ++length;
  if (length == 0 || !is_alphanumeric(rest.front())) return std::nullopt;
  r.name = std::string(rest.substr(0, length));
  rest = trim(rest.substr(length));
  if (rest.starts_with('[')) {
    const size_t end = rest.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    for (const std::string_view extra : split(rest.substr(1, end - 1), ",")) {
      if (!trim(extra).empty()) r.extras.push_back(normal_name(trim(extra)));
    }
    rest = trim(rest.substr(end + 1));
  }
  const bool url = rest.starts_with('@');
  // A URL may hold a semicolon; only one after white space starts the marker.
  const size_t semicolon = url ? rest.find(" ;") : rest.find(';');
  if (semicolon != std::string_view::npos) {
    r.marker = std::string(trim(rest.substr(rest.find(';', semicolon) + 1)));
    rest = trim(rest.substr(0, semicolon));
  }
  if (url) return r;
  if (rest.starts_with('(') && rest.ends_with(')')) rest = trim(rest.substr(1, rest.size() - 2));
  const std::optional<Specifiers> specifiers = Specifiers::parse(rest);
  if (!specifiers) return std::nullopt;
  r.specifiers = *specifiers;
  return r;
}

std::optional<bool> marker_holds(std::string_view marker, const MarkerValues& values,
                                 std::string_view extra) {
  return MarkerParser(marker, values, extra).whole();
}

}  // namespace plimsoll::doctor
