#include "doctor/kernelspec.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "doctor/files.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/python/text.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

// "line 5, column 3", as the parser tells it.
std::string place_of_error(const std::string& text) {
  try {
    const nlohmann::json ignored = nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& e) {
    const std::string said = e.what();
    const size_t at = said.find("line "), end = said.find(':', at);
    if (at != std::string::npos) return said.substr(at, end - at);
  }
  return "its beginning";
}

std::optional<KernelSpec> read_spec(const fs::path& folder, bool of_environment, const Environment& e) {
  const std::optional<std::string> text = read_text(folder / "kernel.json", 1u << 20);
  if (!text) return std::nullopt;
  nlohmann::json j = nlohmann::json::parse(*text, nullptr, false);
  KernelSpec spec;
  spec.file = folder / "kernel.json";
  spec.of_environment = of_environment;
  // Jupyter's parser does not pass over it, ours does.
  if (text->starts_with("\xef\xbb\xbf"))
    spec.not_json = "its beginning (a byte order mark, BOM, as Notepad writes it)";
  if (j.is_discarded()) spec.not_json = place_of_error(*text);
  if (!j.is_object() || !j.contains("argv")) return spec;
  const auto is_text = [](const nlohmann::json& argument) { return argument.is_string(); };
  if (!j["argv"].is_array() || !std::all_of(j["argv"].begin(), j["argv"].end(), is_text)) {
    spec.no_list = j["argv"].dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return spec;
  }
  if (j["argv"].empty()) return spec;
  if (j["argv"][0].is_string()) spec.program = j["argv"][0];
  const bool python = fs::path(spec.program).filename().string().starts_with("python");
  spec.runs_environment = of_environment && python && !contains(spec.program, "/");
  const fs::path own = real_path(e.prefix / "bin");
  spec.has_connection_file = false;
  bool after_m = false;
  for (const auto& argument : j["argv"]) {
    if (!argument.is_string()) continue;
    const std::string word = argument;
    if (after_m && python && spec.module.empty()) spec.module = word;
    after_m = word == "-m";
    spec.ipykernel |= python && word.starts_with("ipykernel");
    spec.has_connection_file |= contains(word, "{connection_file}");
    spec.runs_environment |=
        word.starts_with('/') && !own.empty() && real_path(fs::path(word).parent_path()) == own;
  }
  if (const auto env = j.find("env"); env != j.end() && env->is_object()) {
    for (const auto& [name, value] : env->items()) {
      if (value.is_string())
        spec.variables[name] = value;
      else
        spec.no_texts[name] = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }
  }
  return spec;
}

std::string expanded(std::string_view text, const System& system) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t close = text.substr(i).starts_with("${") ? text.find('}', i) : std::string_view::npos;
    if (close == std::string_view::npos) {
      out += text[i++];
    } else {
      out += system.variable(text.substr(i + 2, close - i - 2));
      i = close + 1;
    }
  }
  return out;
}

}  // namespace

std::vector<KernelSpec> read_kernelspecs(const Environment& environment, const System& system) {
  std::vector<std::pair<fs::path, bool>> folders = {{environment.prefix / "share/jupyter/kernels", true}};
  const fs::path home(system.variable("HOME"));
  if (!home.empty()) {
    const std::string_view data = system.variable("XDG_DATA_HOME");
    folders.emplace_back(environment.is_macos ? home / "Library/Jupyter/kernels"
                         : data.empty()       ? home / ".local/share/jupyter/kernels"
                                              : fs::path(data) / "jupyter/kernels",
                         false);
  }
  for (const std::string_view entry : split(system.variable("JUPYTER_PATH"), ":")) {
    if (!entry.empty()) folders.emplace_back(fs::path(entry) / "kernels", false);
  }
  std::vector<KernelSpec> specs;
  std::set<std::string> seen;  // JUPYTER_PATH may name a folder of the others
  for (const auto& [folder, own] : folders) {
    if (!seen.insert(real_path(folder).string()).second) continue;
    for (const fs::path& entry : list_folder(folder)) {
      if (auto spec = read_spec(entry, own, environment)) specs.push_back(*std::move(spec));
    }
  }
  return specs;
}

System with_variables(const System& system, const KernelSpec& spec) {
  System result = system;
  for (const auto& [name, value] : spec.variables) result.environment[name] = expanded(value, system);
  return result;
}

}  // namespace plimsoll::doctor
