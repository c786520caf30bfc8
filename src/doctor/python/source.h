// What a Python file does whenever it is imported, from its text alone: the import statements and the
// expressions that always run, in functions too that the file calls itself. What stands under conditions that
// cannot be told, or in functions that nobody calls, may not run and is left out. Of a program the methods of
// classes that it makes objects of count as called.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::doctor {

class SourceLines;

struct ImportStatement {
  size_t level = 0;                // dots of a relative import
  std::string module;              // "a.b"; empty for `from . import x`
  std::vector<std::string> names;  // of `from module import names`
  std::vector<std::string> bound;  // what these are called here; of `import a.b`, "a"
  bool star = false;               // from module import *
  // `try: this; except ImportError: that`: both have the number of the try statement, `this` as tried, `that`
  // as fallback. -1: none.
  int tried = -1, fallback = -1;
  bool all_caught = false;  // whatever goes wrong in it is caught
  bool insisted = false;    // `except ImportError: raise ...`: nothing goes without it
};

struct SourceReading {
  std::vector<ImportStatement> imports;
  std::vector<std::string> chains;              // dotted names that are looked up: "scipy.linalg.tril"
  std::set<std::string, std::less<>> assigned;  // names that are given values of other kinds too
  std::string trouble;                          // syntax_trouble() of it
};

// The interpreter that a file is read for: `if sys.version_info >= (3, 8)` and `sys.platform` are decided.
struct SourceReader {
  uint64_t major = 3, minor = 11;
  bool is_macos = false;
  bool with_chains = true;  // also the dotted names
  bool program = false;     // it is run, not imported: __name__ is "__main__"
};
SourceReading read_source(std::string_view source, const SourceReader& reader);

// The names that a module can have: every word of its text that is no attribute of something else, comments,
// strings and the bodies of functions and classes left out. More than it has, never fewer, unless it is
// `open`.
struct ModuleNames {
  std::set<std::string, std::less<>> words;
  std::vector<ImportStatement> stars;                          // from ... import *
  std::optional<std::set<std::string, std::less<>>> exported;  // by __all__, where that is a plain list
  bool lazy = false;      // it has a __getattr__, which knows names that are texts in it
  std::string text;       // if it is lazy or open
  bool open = false;      // it makes names by other means: __getattr__, globals(), sys.modules
  bool composed = false;  // names that it makes are put together of parts, or are those of another module
  // Beginnings of names that it puts together: CO_ of `mod_dict["CO_" + v] = k`, in inspect.
  std::set<std::string, std::less<>> beginnings;
};
// Of Python's own library most modules make names in ways of their own; `plain` ones are known to make none
// by globals(), vars(), sys.modules and the like.
enum class ModuleKind { package, standard, plain_standard };
ModuleNames read_names(std::string_view source, ModuleKind kind = ModuleKind::package);

// Adds the imports of one statement; nothing if it is none.
void add_imports(std::string_view statement, std::vector<ImportStatement>& all);

// Whether `word` stands in the text, not as a part of a longer one.
bool has_word(std::string_view text, std::string_view word);

// Why Python 3 cannot compile a file, as far as that shows in its text: marks of a merge, an end inside of a
// bracket, statements of Python 2. Empty if nothing speaks against it.
std::string syntax_trouble(std::string_view source);
std::string syntax_trouble(const SourceLines& lines);

}  // namespace plimsoll::doctor
