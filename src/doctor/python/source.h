// What a Python file does whenever it is imported, from its text alone: the import statements and the
// expressions that always run. Those in functions, conditions and try blocks may not run and are left out.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::doctor {

struct ImportStatement {
  size_t level = 0;                // dots of a relative import
  std::string module;              // "a.b"; empty for `from . import x`
  std::vector<std::string> names;  // of `from module import names`
  std::vector<std::string> bound;  // what these are called here; of `import a.b`, "a"
  bool star = false;               // from module import *
};

struct SourceReading {
  std::vector<ImportStatement> imports;
  std::vector<std::string> chains;  // dotted names that are looked up: "scipy.linalg.tril"
};
// `with_chains`: also the dotted names.
SourceReading read_source(std::string_view source, bool with_chains);

// The names that a module can have: every word of its text that is no attribute of something else, comments
// and strings left out. More than it has, never fewer, unless it is `open`.
struct ModuleNames {
  std::set<std::string, std::less<>> words;
  std::vector<ImportStatement> stars;                          // from ... import *
  std::optional<std::set<std::string, std::less<>>> exported;  // by __all__, where that is a plain list
  bool lazy = false;  // it has a __getattr__, which knows names that are texts in it
  std::string text;   // if it is lazy
  bool open = false;  // it makes names by other means: __getattr__, globals(), sys.modules
};
// `modules_count`: whoever mentions sys.modules may put names there.
ModuleNames read_names(std::string_view source, bool modules_count = true);

// Whether `word` stands in the text, not as a part of a longer one.
bool has_word(std::string_view text, std::string_view word);

}  // namespace plimsoll::doctor
