#include "doctor/python/definitions.h"

#include <algorithm>

#include "doctor/files.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/python/source.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostModules = 500, kLongest = 1u << 20, kMostAlternatives = 6;
constexpr int kDeepest = 24;

std::string_view word_at(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && is_word_character(text[end])) ++end;
  return text.substr(0, end);
}

// The name of a decorator's last part: keras_export of @keras_export(...).
std::string_view decorator_name(std::string_view text) {
  const std::string_view dotted = trim(text.substr(1, text.find('(') - 1));
  return dotted.substr(dotted.rfind('.') + 1);
}

// Decorators that leave a function's parameters as they are.
bool keeps_parameters(std::string_view decorator) {
  for (const std::string_view known :
       {"keras_export", "tf_export", "set_module", "array_function_dispatch", "validate_params",
        "add_dispatch_support", "staticmethod", "classmethod", "abstractmethod", "doc", "Appender",
        "Substitution", "deprecate_nonkeyword_arguments", "final", "wraps_only_docs", "type_check_only",
        "override", "set_array_function_like_doc", "finalize_array_function_like", "no_automatic_dependency_tracking",
        "for_subclass_implementers", "do_not_generate_docs", "do_not_doc_inheritable", "no_type_check",
        "total_ordering", "runtime_checkable", "lru_cache", "cache", "contextmanager", "export", "_fit_context",
        "_api_export", "set_docstring", "interpolated", "dedent_interpd", "filter_warning_decorator",
        "traceback_utils_filter", "filter_traceback", "_copy_docstring_and_deprecators"}) {
    if (decorator == known) return true;
  }
  return false;
}

bool is_plain_base(std::string_view dotted) {
  const std::string_view last = dotted.substr(dotted.rfind('.') + 1);
  return dotted == "object" || last == "ABC" || last == "Generic" || last == "Protocol";
}

bool is_native(const fs::path& folder, std::string_view name) {
  const std::string start = concat(name, ".");
  for (const fs::path& file : list_folder(folder)) {
    const std::string entry = file.filename().string();
    if (entry.starts_with(start) && entry.ends_with(".so")) return true;
  }
  return false;
}

// Whether a statement may bind names of its module that do not stand in it.
bool makes_names(std::string_view text) {
  const bool looks_only = contains(text, "__import__(") || contains(text, "globals().keys");
  return (contains(text, "globals()") && !looks_only) || contains(text, "setattr(sys.modules");
}

// Whether a __new__ may make an object of another class than it was asked for.
bool may_change_class(const SourceLines& lines, size_t line) {
  for (size_t i = line + 1; i < lines.block_end(line); ++i) {
    const std::string_view text = lines[i].text;
    const std::string_view result = text.starts_with("return ") ? trim(text.substr(7)) : "";
    const bool plain = word_at(result).size() == result.size() || contains(result, "__new__(cls");
    if (!plain || contains(text, "cls is") || contains(text, "cls =") || contains(text, "issubclass(cls"))
      return true;
  }
  return false;
}

// Words that are the text of a string in these lines: names that are looked up in **kwargs.
void add_texts(std::string_view text, std::set<std::string, std::less<>>& all) {
  for (const std::string_view part : split(text, "'\"")) {
    if (!part.empty() && word_at(part).size() == part.size()) all.emplace(part);
  }
}

}  // namespace

const Definitions::Module* Definitions::module(const std::string& name) {
  // TensorFlow gives Keras by a module that loads it late.
  constexpr std::string_view kLate = "tensorflow.keras";
  const bool late = name.starts_with(kLate) && (name.size() == kLate.size() || name[kLate.size()] == '.');
  const std::string dotted = late ? concat("keras._tf_keras.keras", name.substr(kLate.size())) : name;
  if (const auto known = modules_.find(dotted); known != modules_.end()) return known->second.get();
  const std::vector<std::string_view> parts = split(dotted, ".");
  const Origin origin = environment_.path.find(parts[0]);
  const bool seen = origin && origin.file.extension() == ".py" && !origin.entry->of_other_python &&
                    origin.entry->from != PathEntry::From::folder && origin.kind != Origin::Kind::name_space;
  if (!seen) return nullptr;
  if (parts.size() == 1) return load(origin.file, dotted);
  if (origin.kind != Origin::Kind::package) return nullptr;
  fs::path folder = origin.file.parent_path();
  for (size_t i = 1; i + 1 < parts.size(); ++i) folder /= parts[i];
  if (const fs::path inner = folder / parts.back() / "__init__.py"; is_there(inner)) return load(inner, dotted);
  const fs::path file = folder / (std::string(parts.back()) + ".py");
  return is_there(file) && !is_native(folder, parts.back()) ? load(file, dotted) : nullptr;
}

const Definitions::Module* Definitions::load(const fs::path& file, const std::string& dotted) {
  if (modules_.size() >= kMostModules || patience_.over()) return nullptr;
  std::unique_ptr<Module>& m = modules_[dotted];
  const std::optional<std::string> text = read_text(file, kLongest);
  if (!text || text->size() >= kLongest) return nullptr;
  m = std::make_unique<Module>();
  m->dotted = dotted;
  m->text = *text;
  m->file = file;
  m->package = file.filename() == "__init__.py";
  m->lines = std::make_unique<SourceLines>(m->text);
  m->scope = scope_of(*m, 0, m->lines->size());
  for (size_t i = 0; i < m->lines->size(); ++i) {
    const std::string_view line = (*m->lines)[i].text;
    std::vector<ImportStatement> imports;
    if ((*m->lines)[i].indent == 0 && contains(line, "*")) add_imports(line, imports);
    for (const ImportStatement& s : imports) {
      if (!s.star) continue;
      std::string base = s.level == 0 ? "" : dotted;
      for (size_t up = m->package ? 1 : 0; up < s.level; ++up) base.resize(std::min(base.size(), base.rfind('.')));
      m->stars.push_back(base.empty() || s.module.empty() ? base + s.module : concat(base, ".", s.module));
    }
    m->makes_names |= makes_names(line);
    if (line.starts_with("global ")) {
      for (const std::string& name : bound_by(line)) m->scope[name].push_back({});
    }
  }
  return m.get();
}

Definitions::Scope Definitions::scope_of(const Module& m, size_t begin, size_t end) const {
  Scope scope;
  const auto add = [&](const std::string& name, Binding b) {
    std::vector<Binding>& all = scope[name];
    if (std::find(all.begin(), all.end(), b) == all.end()) all.push_back(std::move(b));
  };
  bool overload = false;
  for (size_t i = begin; i < end;) {
    const std::string_view text = (*m.lines)[i].text;
    const bool class_ = text.starts_with("class "), def = text.starts_with("def ") || text.starts_with("async def ");
    if (class_ || def) {
      const std::string_view head = trim(text.substr(text.find(class_ ? "class " : "def ") + (class_ ? 6 : 4)));
      if (!overload) add(std::string(word_at(head)), {class_ ? Binding::Kind::class_ : Binding::Kind::function, i, {}});
      overload = false;
      i = m.lines->block_end(i);
      continue;
    }
    overload |= text.starts_with('@') && decorator_name(text) == "overload";
    std::vector<ImportStatement> imports;
    if (text.starts_with("import ") || text.starts_with("from ")) add_imports(text, imports);
    for (const ImportStatement& s : imports) {
      std::string base = s.level == 0 ? "" : m.dotted;
      for (size_t up = m.package ? 1 : 0; up < s.level; ++up) base.resize(std::min(base.size(), base.rfind('.')));
      const std::string from = base.empty() || s.module.empty() ? base + s.module : concat(base, ".", s.module);
      for (size_t k = 0; k < s.names.size(); ++k) add(s.bound[k], {Binding::Kind::import, 0, from, s.names[k]});
      if (s.names.empty() && !s.bound.empty()) {
        const bool top = s.bound[0] == from.substr(0, from.find('.'));
        add(s.bound[0], {Binding::Kind::import, 0, top ? s.bound[0] : from});
      }
    }
    if (imports.empty()) {
      for (const std::string& name : bound_by(text)) add(name, {Binding::Kind::other, i, {}});
    }
    ++i;
  }
  return scope;
}

std::optional<Definitions::Meaning> Definitions::mean(const Module& m, const Binding& b, std::string_view name,
                                                      int depth) {
  if (b.kind == Binding::Kind::other || depth > kDeepest) return std::nullopt;
  if (b.kind != Binding::Kind::import) {
    if (m.makes_names) return std::nullopt;
    return Meaning{b.kind == Binding::Kind::class_ ? Meaning::Kind::class_ : Meaning::Kind::function, &m, b.line};
  }
  const Module* from = module(b.module);
  if (b.name.empty()) return from ? std::optional(Meaning{Meaning::Kind::module, from, 0}) : std::nullopt;
  const bool itself = from == &m && b.name == name;  // from pkg import part, in pkg/__init__.py
  if (from && !itself) return in_module(*from, b.name, depth + 1);
  const Module* part = module(concat(b.module, ".", b.name));
  return part ? std::optional(Meaning{Meaning::Kind::module, part, 0}) : std::nullopt;
}

std::optional<Definitions::Meaning> Definitions::in_module(const Module& m, std::string_view name, int depth) {
  if (depth > kDeepest) return std::nullopt;
  const auto bound = m.scope.find(name);
  if (bound != m.scope.end())
    return bound->second.size() == 1 ? mean(m, bound->second[0], name, depth) : std::nullopt;
  if (m.package) {
    if (const Module* part = module(concat(m.dotted, ".", name))) return Meaning{Meaning::Kind::module, part, 0};
  }
  std::vector<const Module*> homes;
  if (!name.starts_with('_')) find_stars(m, name, homes, depth);
  return homes.size() == 1 ? in_module(*homes[0], name, depth + 1) : std::nullopt;
}

// The modules that bind a name and hand it on by `import *`.
void Definitions::find_stars(const Module& m, std::string_view name, std::vector<const Module*>& homes,
                             int depth) {
  if (depth > kDeepest) return;
  for (const std::string& star : m.stars) {
    const Module* from = module(star);
    if (!from || std::find(homes.begin(), homes.end(), from) != homes.end()) continue;
    if (from->scope.contains(name))
      homes.push_back(from);
    else
      find_stars(*from, name, homes, depth + 1);
  }
}

std::optional<Definitions::Meaning> Definitions::follow(const std::string& dotted) {
  const std::vector<std::string_view> parts = split(dotted, ".");
  const Module* top = module(std::string(parts[0]));
  if (!top) return std::nullopt;
  std::optional<Meaning> at = Meaning{Meaning::Kind::module, top, 0};
  for (size_t i = 1; i < parts.size() && at; ++i) {
    if (at->kind != Meaning::Kind::module) return std::nullopt;
    const bool late = at->module->dotted == "tensorflow" && parts[i] == "keras";
    const Module* keras = late ? module("tensorflow.keras") : nullptr;
    if (late && !keras) return std::nullopt;
    at = late ? Meaning{Meaning::Kind::module, keras, 0} : in_module(*at->module, parts[i], 0);
  }
  return at;
}

// A class by the text after `class X(`, in the scope of its module.
std::optional<Definitions::Meaning> Definitions::base(const Module& m, std::string_view text, size_t choice) {
  const std::vector<std::string_view> parts = split(text, ".");
  const auto bound = m.scope.find(parts[0]);
  std::optional<Meaning> at;
  if (bound != m.scope.end()) {
    const std::vector<Binding>& all = bound->second;
    if (all.size() > kMostAlternatives) return std::nullopt;
    most_alternatives_ = std::max(most_alternatives_, all.size());
    at = mean(m, all[std::min(choice, all.size() - 1)], parts[0], 0);
  } else {
    at = in_module(m, parts[0], 0);
  }
  for (size_t i = 1; i < parts.size() && at; ++i) {
    if (at->kind != Meaning::Kind::module) return std::nullopt;
    at = in_module(*at->module, parts[i], 0);
  }
  return at && at->kind == Meaning::Kind::class_ ? at : std::nullopt;
}

// Python's order of a class and its bases (C3); nothing if its metaclass may change what a call means.
std::optional<Definitions::Order> Definitions::order(const Meaning& of, size_t choice, int depth) {
  if (depth > kDeepest) return std::nullopt;
  const std::string_view text = (*of.module->lines)[of.line].text;
  Order result{{of}, true};
  const size_t open = text.find('(');
  if (contains(text.substr(0, open), "[")) return std::nullopt;
  std::vector<std::vector<Meaning>> lists(1);  // the last: the bases themselves
  for (const std::string_view part : split_at_commas(open == std::string_view::npos ? "" : text_in_brackets(text, open))) {
    if (part.empty()) continue;
    if (contains(part, "=")) {
      if (!part.starts_with("metaclass") || !part.ends_with("ABCMeta")) return std::nullopt;
      continue;
    }
    const std::string_view name = trim(part.substr(0, part.find('[')));
    if (is_plain_base(name)) continue;
    const auto one = contains(name, "(") ? std::nullopt : base(*of.module, name, choice);
    if (!one) {
      result.complete = false;
      continue;
    }
    const std::optional<Order> above = order(*one, choice, depth + 1);
    if (!above) return std::nullopt;
    result.complete &= above->complete;
    lists.back().push_back(*one);
    lists.insert(lists.end() - 1, above->classes);
  }
  const bool single = lists.size() == 2 && split_at_commas(text_in_brackets(text, open)).size() == 1;
  if (!result.complete && !single) return result;
  while (true) {
    std::erase_if(lists, [](const auto& list) { return list.empty(); });
    if (lists.empty()) return result;
    const auto next = std::find_if(lists.begin(), lists.end(), [&](const auto& list) {
      return std::none_of(lists.begin(), lists.end(), [&](const auto& other) {
        return std::find(other.begin() + 1, other.end(), list[0]) != other.end();
      });
    });
    if (next == lists.end()) return std::nullopt;
    const Meaning head = (*next)[0];
    result.classes.push_back(head);
    for (auto& list : lists) std::erase(list, head);
  }
}

const Definitions::Scope& Definitions::scope_of_class(const Meaning& of) {
  const auto [it, fresh] = classes_.try_emplace({of.module, of.line});
  if (fresh) it->second = scope_of(*of.module, of.line + 1, of.module->lines->block_end(of.line));
  return it->second;
}

// The line of a class's own method; `known` is set to false if it may have one that cannot be seen.
std::optional<size_t> Definitions::own_method(const Meaning& of, std::string_view name, bool& known) {
  const Scope& scope = scope_of_class(of);
  const auto bound = scope.find(name);
  if (bound == scope.end()) return std::nullopt;
  if (bound->second.size() == 1 && bound->second[0].kind == Binding::Kind::function) return bound->second[0].line;
  known = false;
  return std::nullopt;
}

std::optional<Callable> Definitions::of_function(const Module& m, size_t line, bool method) {
  const SourceLines& lines = *m.lines;
  bool bound = method;
  for (size_t i = line; i-- > 0 && lines[i].text.starts_with('@') && lines[i].indent == lines[line].indent;) {
    const std::string_view decorator = decorator_name(lines[i].text);
    if (!keeps_parameters(decorator)) return std::nullopt;
    if (decorator == "staticmethod") bound = false;
  }
  const std::optional<Signature> s = read_signature(lines[line].text);
  if (!s || (bound && s->parameters.empty() && s->rest.empty())) return std::nullopt;
  Callable c{m.file, s->parameters, !s->rest.empty(), !s->keywords.empty(), {}};
  if (bound && !c.parameters.empty()) c.parameters.erase(c.parameters.begin());
  for (const Parameter& p : c.parameters) {
    if (p.by_name) c.names.insert(p.name);
  }
  return c;
}

std::optional<Callable> Definitions::callable(const std::string& dotted) {
  const std::optional<Meaning> found = follow(dotted);
  if (!found) return std::nullopt;
  if (found->kind == Meaning::Kind::function) return of_function(*found->module, found->line, false);
  return found->kind == Meaning::Kind::class_ ? of_class(*found) : std::nullopt;
}

std::optional<Callable> Definitions::of_class(const Meaning& of) {
  std::optional<Callable> all;
  most_alternatives_ = 1;
  for (size_t choice = 0; choice < most_alternatives_; ++choice) {
    const std::optional<Order> classes = order(of, choice, 0);
    std::optional<Callable> one = classes ? made_by(*classes, 0, 0) : std::nullopt;
    if (!one) return std::nullopt;
    if (!all) all = one;
    all->names.insert(one->names.begin(), one->names.end());
    all->more_by_name |= one->more_by_name;
    all->more_by_position |= one->more_by_position;
    for (size_t i = 0; i < all->parameters.size(); ++i) {
      const bool same = i < one->parameters.size() && one->parameters[i].name == all->parameters[i].name;
      all->parameters[i].optional |= !same || one->parameters[i].optional;
    }
  }
  return all;
}

// What the first __init__ at or after `from` takes, **kwargs followed to the next one.
std::optional<Callable> Definitions::made_by(const Order& classes, size_t from, int depth) {
  for (size_t i = from; i < classes.classes.size(); ++i) {
    const Meaning& at = classes.classes[i];
    const SourceLines& lines = *at.module->lines;
    for (size_t k = at.line; k-- > 0 && lines[k].text.starts_with('@') && lines[k].indent == lines[at.line].indent;) {
      if (!keeps_parameters(decorator_name(lines[k].text))) return std::nullopt;
    }
    bool known = true;
    if (const auto line = own_method(at, "__new__", known)) {
      const auto made = of_function(*at.module, *line, true);
      if (!made || !made->more_by_name || !made->more_by_position || may_change_class(lines, *line))
        return std::nullopt;
    }
    const std::optional<size_t> line = own_method(at, "__init__", known);
    if (!known) return std::nullopt;
    if (!line) continue;
    std::optional<Callable> c = of_function(*at.module, *line, true);
    if (!c || !c->more_by_name) return c;
    // What becomes of **kwargs?
    const std::string kwargs = read_signature(lines[*line].text)->keywords;
    const size_t end = lines.block_end(*line);
    bool handed_on = false, refused = false, lost = false;
    for (size_t k = *line + 1; k < end; ++k) {
      add_texts(lines[k].whole, c->names);
      const std::string_view text = lines[k].text;
      if (!has_word(text, kwargs)) continue;
      const std::string_view rest = trim(text);
      const bool asked = rest == concat("if ", kwargs, ":") || (rest.starts_with("for ") && rest.ends_with(concat(" in ", kwargs, ":")));
      if (asked) {
        bool raises = false;
        for (size_t r = k + 1; r < lines.block_end(k); ++r) raises |= lines[r].text.starts_with("raise ");
        refused |= raises;
        lost |= !raises;
        continue;
      }
      for (size_t p = text.find(kwargs); p != std::string_view::npos; p = text.find(kwargs, p + 1)) {
        const std::string_view before = trim(text.substr(0, p)), after = text.substr(p + kwargs.size());
        if (before.ends_with("**") && contains(text, "super().__init__(")) handed_on = true;
        else if (after.starts_with(".pop(") || after.starts_with(".get(") || before.ends_with(" in")) continue;
        else if (text.starts_with("raise ")) continue;
        else lost = true;
      }
    }
    if (lost || handed_on == refused) return c;
    if (refused) {
      c->more_by_name = false;
      return c;
    }
    const std::optional<Callable> next = depth < kDeepest ? made_by(classes, i + 1, depth + 1) : std::nullopt;
    if (!next) return c;
    c->names.insert(next->names.begin(), next->names.end());
    c->more_by_name = next->more_by_name;
    return c;
  }
  return std::nullopt;
}

std::optional<Callable> Definitions::method(const std::string& dotted, const std::string& name) {
  const std::optional<Meaning> found = follow(dotted);
  if (!found || found->kind != Meaning::Kind::class_) return std::nullopt;
  most_alternatives_ = 1;
  const std::optional<Order> classes = order(*found, 0, 0);
  if (!classes || most_alternatives_ > 1) return std::nullopt;
  for (const Meaning& at : classes->classes) {
    bool known = true;
    const std::optional<size_t> line = own_method(at, name, known);
    if (!known) return std::nullopt;
    if (line) return of_function(*at.module, *line, true);
  }
  return std::nullopt;
}

}  // namespace plimsoll::doctor
