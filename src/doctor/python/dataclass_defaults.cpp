#include "doctor/python/dataclass_defaults.h"

#include <set>
#include <vector>

#include "doctor/python/source_lines.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

struct OpenClass {
  size_t indent;
  bool dataclass;
};

bool is_name(std::string_view text) {
  for (const char c : text) {
    if (!is_alphanumeric(c) && c != '_') return false;
  }
  return !text.empty();
}

// The class that is called in `field: Type = Class(...)`, without the modules before it; empty for other
// lines.
std::string_view called_class(std::string_view line, std::string_view& field) {
  const size_t colon = line.find(':'), equals = line.find('=');
  if (colon == std::string_view::npos || equals == std::string_view::npos || equals < colon) return {};
  field = trim(line.substr(0, colon));
  const std::string_view value = trim(line.substr(equals + 1));
  std::string_view name = value.substr(0, std::min(value.find('('), value.size()));
  if (name.size() == value.size()) return {};
  name = name.substr(name.rfind('.') + 1);
  return is_name(field) && is_name(name) ? name : std::string_view();
}

}  // namespace

std::string mutable_dataclass_default(std::string_view source) {
  if (!contains(source, "dataclass") || contains(source, "__hash__")) return "";
  const SourceLines lines(source);
  std::set<std::string, std::less<>> unhashable;
  std::vector<OpenClass> open;
  bool decorated = false, hashable = false;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view text = lines[i].text;
    const size_t indent = lines[i].indent;
    while (!open.empty() && indent <= open.back().indent) open.pop_back();
    if (text.starts_with("@dataclass") || text.starts_with("@dataclasses.dataclass")) {
      decorated = true;
      hashable = contains(text, "frozen") || contains(text, "unsafe_hash") || contains(text, "eq");
    } else if (text.starts_with("class ")) {
      const std::string_view rest = trim(text.substr(6));
      if (decorated && !hashable) unhashable.emplace(rest.substr(0, rest.find_first_of(":( ")));
      open.push_back({indent, decorated});
      decorated = hashable = false;
    } else if (!text.starts_with("@")) {
      std::string_view field;
      const std::string_view name = called_class(text, field);
      const bool in_body = !open.empty() && open.back().dataclass;
      if (in_body && !name.empty() && unhashable.contains(name)) return concat(field, ": ", name);
      if (text.starts_with("def ") || text.starts_with("async def ")) open.push_back({indent, false});
    }
  }
  return "";
}

}  // namespace plimsoll::doctor
