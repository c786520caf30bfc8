#include "doctor/loader_path.h"

#include "doctor/formats/ld_cache.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/python/text.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace

LoaderPath::LoaderPath(const Environment& environment, const System& system, const Elf* program)
    : program_(environment.interpreter), library_path_(system.variable("LD_LIBRARY_PATH")) {
  if (program && program->runpath().empty()) program_rpath_ = program->rpath();
  if (environment.musl) {
    system_folders_ = "/lib:/usr/local/lib:/usr/lib";
    if (const auto text = read_text("/etc/ld-musl-" + environment.machine + ".path", 1u << 16)) {
      system_folders_ = replace_all(std::string(trim(*text)), "\n", ":");
    }
    return;
  }
  const std::string triple = environment.machine + "-linux-gnu";
  system_folders_ = "/lib/" + triple + ":/usr/lib/" + triple + ":/lib64:/usr/lib64:/lib:/usr/lib";
  if (const auto file = MappedFile::open("/etc/ld.so.cache")) {
    try {
      cache_ = parse_ld_cache(file->bytes());
    } catch (const Error&) {
      // Without a cache the folders have to do.
    }
  }
}

void LoaderPath::add(std::vector<fs::path>& out, std::string_view folders, std::string_view name,
                     const fs::path& by) const {
  for (const std::string_view folder : split(folders, ":")) {
    if (folder.empty()) continue;
    std::string expanded = replace_all(std::string(folder), "${ORIGIN}", by.parent_path().string());
    expanded = replace_all(expanded, "$ORIGIN", by.parent_path().string());
    out.push_back(fs::path(expanded) / name);
  }
}

std::vector<fs::path> LoaderPath::candidates(std::string_view name, const Elf& elf,
                                             const fs::path& by) const {
  std::vector<fs::path> out;
  if (contains(name, "/")) return {fs::path(name)};
  if (elf.runpath().empty()) {
    add(out, elf.rpath(), name, by);
    add(out, program_rpath_, name, program_);
  }
  add(out, library_path_, name, by);
  add(out, elf.runpath(), name, by);
  add_system(out, name);
  return out;
}

std::vector<fs::path> LoaderPath::candidates(std::string_view name) const {
  std::vector<fs::path> out;
  add(out, library_path_, name, program_);
  add_system(out, name);
  return out;
}

void LoaderPath::add_system(std::vector<fs::path>& out, std::string_view name) const {
  if (const auto cached = cache_.find(std::string(name)); cached != cache_.end()) {
    for (const std::string& path : cached->second) out.emplace_back(path);
  }
  add(out, system_folders_, name, program_);
}

std::vector<fs::path> LoaderPath::candidates(std::string_view name, const MachO& macho,
                                             const fs::path& by) const {
  const auto expand = [&](std::string_view text) -> fs::path {
    if (text.starts_with("@loader_path")) return by.parent_path() / fs::path(text.substr(12)).relative_path();
    if (text.starts_with("@executable_path")) {
      return program_.parent_path() / fs::path(text.substr(16)).relative_path();
    }
    return text;
  };
  if (!name.starts_with("@rpath/")) return {expand(name)};
  std::vector<fs::path> out;
  for (const std::string_view rpath : macho.rpaths()) out.push_back(expand(rpath) / name.substr(7));
  out.push_back(by.parent_path() / name.substr(7));
  return out;
}

}  // namespace plimsoll::doctor
