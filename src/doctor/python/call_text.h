// What the text of one statement says about calls: the parameters of a `def`, the arguments that a call gives,
// the names that a statement binds. The text is that of a SourceLine: without strings and comments.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::doctor {

struct Parameter {
  std::string name;
  bool optional = false;  // it has a default
  bool by_position = true, by_name = true;
};
struct Signature {
  std::vector<Parameter> parameters;
  std::string rest, keywords;  // what *args and **kwargs are called; empty: there is none
};
// Of "def f(a, *, b=1, **kw) -> T:"; nothing if it cannot be told.
std::optional<Signature> read_signature(std::string_view statement);

struct Arguments {
  std::vector<std::string> names;
  size_t by_position = 0;
  bool maybe_one_more = false;  // a text at the end, which shows no more than a comma
  bool unpacks = false;         // *x or **x: there may be more
};
Arguments read_arguments(std::string_view text);

// The text between the bracket at `open` and the one that closes it.
std::string_view text_in_brackets(std::string_view text, size_t open);
// The parts of a text between commas that stand in no bracket.
std::vector<std::string_view> split_at_commas(std::string_view text);

// Names that a statement gives a value to, imports left out: more than it has, if in doubt. Of `a.b = x` it
// is `a`.
std::vector<std::string> bound_by(std::string_view statement);

}  // namespace plimsoll::doctor
