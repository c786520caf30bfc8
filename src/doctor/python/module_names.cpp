#include "doctor/python/source.h"

#include <algorithm>

#include "doctor/python/source_lines.h"
#include "doctor/python/text.h"

namespace plimsoll::doctor {
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

namespace {

// A module's own `def __getattr__(name)` whose names are all texts in it: it compares, and hands the name on
// to nobody. Fed line by line.
class LazyNames {
 public:
  void see(size_t indent, std::string_view whole) {
    const bool top = indent == 0;
    if (top) parameter_.clear();
    if (top && whole.starts_with("def __getattr__(")) {
      defined_ = true;
      const std::string_view rest = whole.substr(16);
      parameter_ = trim(rest.substr(0, rest.find_first_of(":,)= ")));
    } else if (!parameter_.empty() && has_word(whole, parameter_)) {
      const std::string_view word = whole.substr(0, whole.find(' '));
      const size_t colon = whole.rfind(':');
      const bool compares = (word == "if" || word == "elif") &&
                            (colon == std::string_view::npos || !has_word(whole.substr(colon), parameter_));
      handed_on_ |= !compares && word != "raise";
    }
  }
  bool known() const { return defined_ && !handed_on_; }

 private:
  std::string parameter_;
  bool defined_ = false, handed_on_ = false;
};

}  // namespace

namespace {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Whether a line that makes names puts these together of parts, globals()[prefix + name], or takes those of
// another module: wrap(numpy.__dict__, globals()).
bool is_composed(std::string_view whole) {
  return contains(whole, "__dict__") || contains(whole, "vars(") || contains(whole, "dir(") ||
         contains(whole, "+") || contains(whole, "%") || contains(whole, ".format(") ||
         contains(whole, "f\"") || contains(whole, "f'") || contains(whole, "join(");
}

// The text before a plus in d["CO_" + v] = k.
std::string_view beginning_of_names(std::string_view whole) {
  const size_t open = whole.find_first_of("'\"");
  if (open == std::string_view::npos || open == 0 || whole[open - 1] != '[') return {};
  const size_t close = whole.find(whole[open], open + 1);
  if (close == std::string_view::npos || !trim(whole.substr(close + 1)).starts_with('+')) return {};
  return whole.substr(open + 1, close - open - 1);
}

// setattr(module, name, value) in a function, not one on an object that it was given.
bool sets_on_module(std::string_view text) {
  const size_t at = text.find("setattr(");
  if (at == std::string_view::npos) return false;
  const std::string_view rest = trim(text.substr(at + 8));
  const std::string_view target = trim(rest.substr(0, rest.find_first_of(",).[(")));
  return !is_one_of(target, {"self",   "cls",  "obj",     "instance", "klass", "func",  "f",    "wrapper",
                             "result", "res",  "other",   "new",      "args",  "class", "type", "object",
                             "opts",   "data", "options", "config",   "inst",  "o",     "x",    "namespace"});
}

}  // namespace

ModuleNames read_names(std::string_view source, ModuleKind kind) {
  const bool plain = kind == ModuleKind::plain_standard;
  // Members of an enumeration may become names of the module.
  const bool converts =
      contains(source, "global_enum") || contains(source, "__members__") || contains(source, "_convert_(");
  const bool inner_words = converts || kind == ModuleKind::standard;
  ModuleNames names;
  LazyNames lazy;
  names.exported = read_exports(source);
  names.open = !plain && (contains(source, "sys.modules") || converts);
  const SourceLines lines(source);
  size_t inner_end = 0;  // of the function or class that this line is in
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view text = lines[i].text;
    const bool inside = i < inner_end;
    lazy.see(lines[i].indent, text);
    if (!inside && text.starts_with("from") && contains(text, "*")) {
      std::vector<ImportStatement> found;
      add_imports(text, found);
      for (ImportStatement& s : found) {
        if (s.star) names.stars.push_back(std::move(s));
      }
    }
    const bool global = text.starts_with("global ");
    bool makes = false;
    for_each_word(text, [&](std::string_view word, bool attribute) {
      if (attribute) {
        makes |= !plain && !inside && is_one_of(word, {"__dict__", "f_globals", "f_locals"});
        return;
      }
      names.lazy |= word == "__getattr__" && lines[i].indent == 0;
      makes |= !plain && (is_one_of(word, {"globals", "__path__"}) ||
                          (!inside && is_one_of(word, {"locals", "vars", "exec", "setattr"})) ||
                          (inside && word == "setattr" && sets_on_module(text)));
      if (!inside || global || inner_words) names.words.emplace(word);
    });
    if (const std::string_view begin = inside ? "" : beginning_of_names(lines[i].whole); !begin.empty())
      names.beginnings.emplace(begin);
    names.open |= makes;
    names.composed |= makes && is_composed(lines[i].whole);
    if (!inside && (text.starts_with("def ") || text.starts_with("async def ") || text.starts_with("class ")))
      inner_end = lines.block_end(i);
  }
  // One that looks names up elsewhere can know any.
  names.open |=
      names.lazy && (!lazy.known() || has_word(source, "getattr") || has_word(source, "import_module"));
  if (names.lazy || names.open) names.text = source;
  return names;
}

bool has_word(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_word_character(text[at - 1])) &&
        (end == text.size() || !is_word_character(text[end])))
      return true;
  }
  return false;
}

}  // namespace plimsoll::doctor
