// Definitions finds what a dotted name means in the installed files, from their text: "keras.layers.Dense" is
// followed through imports of __init__ files to the class, and to the parameters that a call of it takes. What
// is made when a module runs, bound twice, native, decorated in unknown ways or too far away is not known.
// One thread uses it.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/patience.h"
#include "doctor/python/call_text.h"
#include "doctor/python/environment.h"
#include "doctor/python/source_lines.h"

namespace plimsoll::doctor {

// What a call takes.
struct Callable {
  std::filesystem::path file;  // where it is defined
  std::vector<Parameter> parameters;
  bool more_by_position = false;
  bool more_by_name = false;  // any name, as far as can be told
  std::set<std::string, std::less<>> names;  // that it takes
};

class Definitions {
 public:
  Definitions(const Environment& environment, const Patience& patience)
      : environment_(environment), patience_(patience) {}

  // Nothing if it cannot be told.
  std::optional<Callable> callable(const std::string& dotted);
  // The method of a class, without its `self`.
  std::optional<Callable> method(const std::string& dotted, const std::string& name);

 private:
  struct Binding {
    enum class Kind { function, class_, import, other };
    Kind kind = Kind::other;
    size_t line = 0;
    std::string module, name = {};  // of an import; no name: the module itself
    bool operator==(const Binding&) const = default;
  };
  using Scope = std::map<std::string, std::vector<Binding>, std::less<>>;
  struct Module {
    std::string dotted, text;
    std::filesystem::path file;
    bool package = false, makes_names = false;
    std::unique_ptr<SourceLines> lines;
    Scope scope;
    std::vector<std::string> stars;
  };
  struct Meaning {
    enum class Kind { module, function, class_ };
    Kind kind = Kind::module;
    const Module* module = nullptr;
    size_t line = 0;
    bool operator==(const Meaning&) const = default;
  };
  // The classes in the order in which they are asked for a method, as far as that is known.
  struct Order {
    std::vector<Meaning> classes;
    bool complete = true;
  };

  const Module* module(const std::string& dotted);
  const Module* load(const std::filesystem::path& file, const std::string& dotted);
  Scope scope_of(const Module& m, size_t begin, size_t end) const;
  std::optional<Meaning> follow(const std::string& dotted);
  std::optional<Meaning> in_module(const Module& m, std::string_view name, int depth);
  void find_stars(const Module& m, std::string_view name, std::vector<const Module*>& homes, int depth);
  std::optional<Meaning> mean(const Module& m, const Binding& b, std::string_view name, int depth);
  std::optional<Meaning> base(const Module& m, std::string_view text, size_t choice);
  std::optional<Order> order(const Meaning& of, size_t choice, int depth);
  const Scope& scope_of_class(const Meaning& of);
  std::optional<size_t> own_method(const Meaning& of, std::string_view name, bool& known);
  std::optional<Callable> of_function(const Module& m, size_t line, bool method);
  std::optional<Callable> of_class(const Meaning& of);
  std::optional<Callable> made_by(const Order& order, size_t from, int depth);

  const Environment& environment_;
  const Patience& patience_;
  std::map<std::string, std::unique_ptr<Module>> modules_;  // by dotted name; null: not to be read
  std::map<std::pair<const Module*, size_t>, Scope> classes_;
  size_t most_alternatives_ = 1;  // of a base that is bound more than once, met in the last order()
};

}  // namespace plimsoll::doctor
