#include "guard/kernelspec.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

#include "guard/files.h"
#include "guard/options.h"
#include "plimsoll/error.h"

namespace plimsoll::guard {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr const char* kPlace = "kernel";

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, by);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

fs::path user_data_folder() {
  if (auto folder = environment("JUPYTER_DATA_DIR")) return *folder;
  const fs::path home = environment("HOME").value_or("/");
#ifdef __APPLE__
  return home / "Library/Jupyter";
#else
  if (auto data = environment("XDG_DATA_HOME")) return fs::path(*data) / "jupyter";
  return home / ".local/share/jupyter";
#endif
}

std::optional<fs::path> find_program(const std::string& name) {
  for (const auto& folder : split(environment("PATH").value_or(""), ':')) {
    const fs::path path = fs::path(folder) / name;
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return std::nullopt;
}

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
}

// Jupyter puts its own Python in place of a bare "python"; behind the guard it no longer sees the
// word, so it is resolved here: the Python of the environment that holds the spec, else that of PATH.
std::string resolve_program(const std::string& program, const fs::path& spec_folder) {
  if (program.find('/') != std::string::npos) return program;
  const fs::path prefix = spec_folder.parent_path().parent_path().parent_path().parent_path();
  const fs::path beside = prefix / "bin" / program;
  if (::access(beside.c_str(), X_OK) == 0) return beside.string();
  if (auto found = find_program(program)) return found->string();
  return program;
}

bool valid_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '.' || c == '_' || c == '-';
  });
}

}  // namespace

std::optional<std::string> Kernelspec::guards() const {
  const auto metadata = json.find("metadata");
  if (metadata == json.end() || !metadata->is_object()) return std::nullopt;
  const auto mark = metadata->find("plimsoll_guards");
  if (mark == metadata->end() || !mark->is_string()) return std::nullopt;
  return mark->get<std::string>();
}

std::vector<fs::path> kernel_folders() {
  std::vector<fs::path> folders;
  auto add = [&](fs::path folder) {
    folder /= "kernels";
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(folder);
  };
  for (const auto& part : split(environment("JUPYTER_PATH").value_or(""), ':')) add(part);
  add(user_data_folder());
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (auto prefix = environment(variable)) add(fs::path(*prefix) / "share/jupyter");
  }
  for (const char* program : {"jupyter", "python3", "python"}) {
    if (auto found = find_program(program)) add(found->parent_path().parent_path() / "share/jupyter");
  }
  add("/usr/local/share/jupyter");
  add("/usr/share/jupyter");
  return folders;
}

std::vector<Kernelspec> list_kernelspecs(const std::vector<fs::path>& folders) {
  std::vector<Kernelspec> specs;
  std::set<std::string> seen;
  for (const auto& folder : folders) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename().string();
      auto text = read_file(entry.path() / "kernel.json");
      if (!text || seen.count(name)) continue;
      auto parsed = json::parse(*text, nullptr, /*allow_exceptions=*/false);
      if (!parsed.is_object()) continue;
      seen.insert(name);
      specs.push_back({name, entry.path(), std::move(parsed)});
    }
  }
  std::sort(specs.begin(), specs.end(), [](auto& a, auto& b) { return a.name < b.name; });
  return specs;
}

json guarded_twin(const Kernelspec& spec, const InstallOptions& options) {
  const auto argv = spec.json.find("argv");
  const bool sound = argv != spec.json.end() && argv->is_array() && !argv->empty() &&
                     std::all_of(argv->begin(), argv->end(), [](auto& a) { return a.is_string(); });
  if (!sound) {
    fail(ErrorKind::bad_file, kPlace, "expected a list of strings `argv` in ",
         (spec.folder / "kernel.json").string());
  }
  json twin = spec.json;
  json line = {options.guard.string(), "-f", "{connection_file}", "--name", spec.name};
  line.insert(line.end(), {"--language", spec.json.value("language", std::string("unknown"))});
  for (const auto& word : options.words) line.push_back(word);
  line.push_back("--");
  for (const auto& part : *argv) {
    std::string text = part.get<std::string>();
    replace_all(text, "{resource_dir}", spec.folder.string());
    line.push_back(text);
  }
  const size_t first = line.size() - argv->size();
  line[first] = resolve_program(line[first].get<std::string>(), spec.folder);
  twin["argv"] = line;
  twin["display_name"] = spec.json.value("display_name", spec.name) + " (guarded)";
  if (!twin["metadata"].is_object()) twin["metadata"] = json::object();
  twin["metadata"]["supported_encryption"] = json::array({"curve"});
  twin["metadata"]["plimsoll_guards"] = spec.name;
  return twin;
}

fs::path install_kernelspec(const InstallOptions& options, const std::vector<fs::path>& folders) {
  const auto specs = list_kernelspecs(folders);
  const auto spec = std::find_if(specs.begin(), specs.end(), [&](auto& s) { return s.name == options.of; });
  if (spec == specs.end()) {
    std::string looked;
    for (const auto& folder : folders) looked += "\n  " + folder.string();
    fail(ErrorKind::not_found, kPlace, "no kernel named ", options.of, " in", looked);
  }
  require(!spec->guards(), kPlace, "expected a kernel to guard, got ", options.of,
          ", which is guarded already");
  const std::string name = options.name.empty() ? options.of + "-guarded" : options.name;
  require(valid_name(name), kPlace, "expected a name of letters, digits, '.', '_' and '-', got '", name, "'");
  require(name != options.of, kPlace, "expected a name other than that of the kernel itself, got ", name);

  const json twin = guarded_twin(*spec, options);
  const std::vector<std::string> argv = twin["argv"];
  parse_options({argv.begin() + 1, argv.end()});  // now rather than when Jupyter starts it

  const fs::path base = options.prefix.empty() ? user_data_folder() : options.prefix / "share/jupyter";
  const fs::path folder = base / "kernels" / name;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail(ErrorKind::io, kPlace, "cannot create ", folder.string(), ": ", error.message());
  for (const auto& entry : fs::directory_iterator(spec->folder, error)) {
    if (!entry.is_regular_file() || entry.path().filename() == "kernel.json") continue;
    fs::copy_file(entry.path(), folder / entry.path().filename(), fs::copy_options::overwrite_existing,
                  error);
  }
  write_file(folder / "kernel.json", twin.dump(1) + "\n");
  fs::permissions(folder / "kernel.json", fs::perms::group_read | fs::perms::others_read,
                  fs::perm_options::add, error);
  return folder;
}

fs::path remove_kernelspec(const std::string& name, const std::vector<fs::path>& folders) {
  for (const auto& spec : list_kernelspecs(folders)) {
    if (spec.name != name) continue;
    require(spec.guards().has_value(), kPlace, "expected a guarded kernel, got ", name, " (",
            spec.folder.string(), "), which is not one of ours to remove");
    std::error_code error;
    fs::remove_all(spec.folder, error);
    if (error) fail(ErrorKind::io, kPlace, "cannot remove ", spec.folder.string(), ": ", error.message());
    return spec.folder;
  }
  fail(ErrorKind::not_found, kPlace, "no kernel named ", name);
}

}  // namespace plimsoll::guard
