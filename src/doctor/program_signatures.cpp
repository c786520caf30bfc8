#include "doctor/program_signatures.h"

#include <algorithm>
#include <map>

#include "doctor/module_project.h"
#include "doctor/program_reader.h"
#include "doctor/python/definitions.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

constexpr std::chrono::milliseconds kLongest{300};
constexpr size_t kMostShown = 12;

class Reader : public ProgramReader {
 public:
  Reader(const Exam& exam, std::string_view source, Findings& findings)
      : ProgramReader(exam, source, findings), definitions_(exam.environment, patience_) {
    for (size_t i = 0; i < lines_.size(); ++i) bind(lines_[i].text);
    for (const std::string& name : rebound_) meanings_.erase(name);
  }

  void run() {
    for (size_t i = 0; i < lines_.size() && !patience_.over(); ++i) calls_in(i);
  }

 private:
  // What each name stands for that only imports bind, and all to the same.
  void bind(std::string_view text) {
    std::vector<ImportStatement> imports;
    if (text.starts_with("import ") || text.starts_with("from ")) add_imports(text, imports);
    for (const ImportStatement& s : imports) {
      for (size_t k = 0; k < s.names.size(); ++k) mean(s.bound[k], concat(s.module, ".", s.names[k]), s.level);
      if (s.names.empty() && !s.bound.empty())
        mean(s.bound[0], s.bound[0] == s.module.substr(0, s.module.find('.')) ? s.bound[0] : s.module, s.level);
    }
    if (imports.empty()) {
      for (std::string& name : bound_by(text)) rebound_.insert(std::move(name));
    }
  }
  void mean(const std::string& name, const std::string& dotted, size_t level) {
    const auto [it, fresh] = meanings_.try_emplace(name, dotted);
    if (level > 0 || (!fresh && it->second != dotted)) rebound_.insert(name);
  }

  // if PD_LT_3: ... else: ...
  bool is_under_constant(size_t line) const {
    size_t indent = lines_[line].indent;
    for (size_t i = line; i-- > 0 && indent > 0;) {
      if (lines_[i].indent >= indent) continue;
      indent = lines_[i].indent;
      const std::string_view text = lines_[i].text;
      const bool lower = text.find_first_of("abcdefghijklmnopqrstuvwxyz", 3) != std::string_view::npos;
      if (text.starts_with("if ") && !lower) return true;
    }
    return false;
  }

  void calls_in(size_t line) {
    const std::string_view text = lines_[line].text;
    // The bases of a class and the patterns of a match are no calls.
    for (const std::string_view word : {"def ", "class ", "async def ", "case "}) {
      if (text.starts_with(word)) return;
    }
    for (size_t at = 0; at < text.size();) {
      if (!is_word_character(text[at])) {
        ++at;
        continue;
      }
      const size_t begin = at;
      while (at < text.size() && (is_word_character(text[at]) || text[at] == '.')) ++at;
      const size_t open = text.find_first_not_of(' ', at);
      const bool follows = begin > 0 && (text[begin - 1] == '.' || trim(text.substr(0, begin)).ends_with('.'));
      if (open == std::string_view::npos || text[open] != '(' || follows) continue;
      judge(line, text.substr(begin, at - begin), text_in_brackets(text, open));
    }
  }

  void judge(size_t line, std::string_view called, std::string_view arguments) {
    const std::string_view first = called.substr(0, called.find('.'));
    const auto meant = meanings_.find(first);
    if (meant == meanings_.end()) return;
    const std::string dotted = concat(meant->second, called.substr(first.size()));
    const auto [known, fresh] = callables_.try_emplace(dotted);
    if (fresh) known->second = definitions_.callable(dotted);
    if (!known->second) return;
    Arguments given = read_arguments(arguments);
    given.maybe_one_more &= lines_[line].whole.find_first_of("'\"") != std::string_view::npos;
    compare(line, called, *known->second, given);
  }

  void compare(size_t line, std::string_view called, const Callable& c, const Arguments& given) {
    const std::string_view function = called.substr(called.rfind('.') + 1);
    for (const std::string& name : given.names) {
      if (c.more_by_name || c.names.contains(name)) continue;
      tell(line, concat("gives ", name, "= to ", function, "(), which ", owner(c), " does not take"),
           concat("TypeError or ValueError: unexpected keyword argument '", name, "'"), advice(name, c));
    }
    const size_t places = std::count_if(c.parameters.begin(), c.parameters.end(), [](const Parameter& p) { return p.by_position; });
    if (!c.more_by_position && given.by_position > places)
      tell(line, concat("gives ", given.by_position, " arguments without a name to ", function, "(), which takes ", places, " in ", owner(c)),
           concat("TypeError: ", function, "() takes ", places, " positional arguments"),
           concat("Give the others by name: ", list(c), "."));
    if (given.unpacks) return;
    size_t place = 0;
    for (const Parameter& p : c.parameters) {
      const bool by_place = p.by_position && place++ < given.by_position + (given.maybe_one_more ? 1 : 0);
      const bool named = std::find(given.names.begin(), given.names.end(), p.name) != given.names.end();
      if (p.optional || by_place || named) continue;
      tell(line, concat("calls ", function, "() without ", p.name, ", which ", owner(c), " insists on"),
           concat("TypeError: ", function, "() missing a required argument: '", p.name, "'"),
           concat("Give it: ", function, "(", p.name, "=...)."));
      return;
    }
  }

  // What the table of old arguments has said is better.
  void tell(size_t line, const std::string& what, std::string leads_to, std::string fix) {
    if (is_guarded(line) || is_under_constant(line)) return;
    const std::string_view subject = std::string_view(what).substr(0, what.find(','));
    for (const Finding& f : findings_) {
      if (contains(f.what, subject)) return;
    }
    add(line, what, std::move(leads_to), std::move(fix));
  }

  std::string owner(const Callable& c) const {
    const Distribution* d = owner_of(exam_.environment, c.file);
    if (d) return d->shown();
    const Environment& e = exam_.environment;
    const bool standard = c.file.string().starts_with(e.standard_library.string() + "/") && !contains(c.file.string(), "-packages/");
    return standard ? concat("Python ", e.major, ".", e.minor) : c.file.filename().string();
  }
  static std::string list(const Callable& c) {
    std::vector<std::string> names;
    for (const Parameter& p : c.parameters) {
      if (p.by_name && !p.name.starts_with('_')) names.push_back(p.name);
    }
    const bool more = names.size() > kMostShown;
    if (more) names.resize(kMostShown);
    return join(names, ", ") + (more ? " ..." : "");
  }
  static std::string advice(const std::string& name, const Callable& c) {
    std::string best;
    size_t least = std::max<size_t>(1, name.size() / 3) + 1;
    for (const std::string& other : c.names) {
      const size_t d = letters_apart(name, other);
      if (d < least) best = other, least = d;
    }
    if (!best.empty()) return concat("Write ", best, "= instead of ", name, "=, if that is meant.");
    return concat("Leave it out, or look for its new name: it takes ", list(c), ".");
  }

  Patience patience_{kLongest};
  Definitions definitions_;
  std::map<std::string, std::string, std::less<>> meanings_;  // "np": "numpy"
  std::set<std::string, std::less<>> rebound_;
  std::map<std::string, std::optional<Callable>> callables_;
};

}  // namespace

void signatures_of_program(const Exam& exam, std::string_view source, Findings& findings) {
  Reader(exam, source, findings).run();
}

}  // namespace plimsoll::doctor
