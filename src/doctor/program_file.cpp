#include "doctor/program_file.h"

#include <nlohmann/json.hpp>

#include "doctor/formats/mapped_file.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

constexpr size_t kLongest = 256u << 20;

// One cell: a text, or a list of lines. A cell that begins with %% is often in another language.
std::string code_of(const nlohmann::json& source) {
  std::string text;
  if (source.is_string()) text = source;
  for (const auto& line : source.is_array() ? source : nlohmann::json::array()) {
    if (line.is_string()) text += line.get<std::string>();
  }
  if (trim(text).starts_with("%%") && !trim(text).starts_with("%%time")) return "";
  std::string code;
  for (const std::string_view line : split(text, "\n")) {
    const std::string_view word = trim(line);
    const bool command = word.starts_with('%') || word.starts_with('!') || word.starts_with('?');
    code.append(command ? "pass" : line).append(1, '\n');
  }
  return code;
}

}  // namespace

std::string read_program(const std::filesystem::path& file) {
  const std::optional<std::string> text = read_text(file, kLongest);
  if (!text) fail(ErrorKind::not_found, "doctor", "cannot read ", file.string());
  if (file.extension() != ".ipynb") return *text;
  const nlohmann::json notebook = nlohmann::json::parse(*text, nullptr, false);
  if (!notebook.is_object() || !notebook.contains("cells") || !notebook["cells"].is_array())
    fail(ErrorKind::bad_file, "doctor", "expected a notebook (JSON with cells), got something else in ",
         file.string());
  std::string code;
  for (const auto& cell : notebook["cells"]) {
    if (cell.is_object() && cell.value("cell_type", "") == "code" && cell.contains("source"))
      code += code_of(cell["source"]);
  }
  return code;
}

}  // namespace plimsoll::doctor
