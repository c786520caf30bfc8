// Which modules a Python file imports whenever it is imported itself: the import statements at its left
// margin. Those in functions, conditions and try blocks may not run and are left out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::doctor {

struct ImportStatement {
  size_t level = 0;                // dots of a relative import
  std::string module;              // "a.b"; empty for `from . import x`
  std::vector<std::string> names;  // of `from module import names`
};

std::vector<ImportStatement> unconditional_imports(std::string_view source);

}  // namespace plimsoll::doctor
