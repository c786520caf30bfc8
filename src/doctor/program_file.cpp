#include "doctor/program_file.h"

#include <nlohmann/json.hpp>

#include "doctor/formats/mapped_file.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

constexpr size_t kLongest = 256u << 20;

// What a command of IPython does, in Python: it loads a module, or nothing that matters here.
std::string python_of(std::string_view command) {
  std::vector<std::string_view> words;
  for (const std::string_view word : split(command, " \t\r")) {
    if (!word.empty()) words.push_back(word);
  }
  if (words.size() < 2) return "pass";
  if (words[0] == "%matplotlib" && (words[1] == "widget" || words[1] == "ipympl")) return "import ipympl";
  const bool own = words[1] == "autoreload" || words[1] == "storemagic";  // IPython's
  if (words[0] != "%load_ext" || own || !is_alpha(words[1][0])) return "pass";
  const std::string module(words[1] == "cython" ? "Cython" : words[1]);
  return concat("import ", module);
}

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
    if (command)
      code.append(line.substr(0, line.find(word))).append(python_of(word)).append(1, '\n');
    else
      code.append(line).append(1, '\n');
  }
  return code;
}

}  // namespace

Program read_program(const std::filesystem::path& file) {
  const std::optional<std::string> text = read_text(file, kLongest);
  if (!text) fail(ErrorKind::not_found, "doctor", "cannot read ", file.string());
  if (file.extension() != ".ipynb") return {*text, ""};
  const nlohmann::json notebook = nlohmann::json::parse(*text, nullptr, false);
  if (!notebook.is_object() || !notebook.contains("cells") || !notebook["cells"].is_array())
    fail(ErrorKind::bad_file, "doctor", "expected a notebook (JSON with cells), got something else in ",
         file.string());
  Program program;
  for (const auto& cell : notebook["cells"]) {
    if (cell.is_object() && cell.value("cell_type", "") == "code" && cell.contains("source"))
      program.source += code_of(cell["source"]);
  }
  constexpr const char* kKernel = "/metadata/kernelspec/name";
  const nlohmann::json kernel = notebook.value(nlohmann::json::json_pointer(kKernel), nlohmann::json());
  if (kernel.is_string()) program.kernel = kernel;
  return program;
}

}  // namespace plimsoll::doctor
