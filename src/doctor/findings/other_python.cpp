// Modules and wheels made for another version of Python, another libc or another system.
#include <map>
#include <set>

#include "doctor/commands.h"
#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

// "cpython-310" of _core.cpython-310-x86_64-linux-gnu.so; empty if the name has none.
std::string python_tag(std::string_view file_name) {
  const size_t at = file_name.find(".cpython-");
  if (at == std::string_view::npos) return "";
  const std::string_view rest = file_name.substr(at + 1);
  return std::string(rest.substr(0, rest.find_first_of("-.", 8)));
}

std::string own_tag(const Environment& e) {
  return concat("cpython-", e.major, e.minor, e.free_threaded ? "t" : "");
}

struct Group {
  std::vector<std::string> files;
  std::set<std::string> tags;
  const Distribution* owner = nullptr;
  std::filesystem::path folder;  // on sys.path
};

// Modules per project whose names this Python does not look for, and that have no twin which fits.
std::map<std::string, Group> foreign_modules(const Exam& exam) {
  const std::string own = own_tag(exam.environment);
  std::set<std::string> usable;  // folder and stem of modules that fit
  const auto key = [](const Library& l) {
    const std::string name = l.path.filename().string();
    return (l.path.parent_path() / name.substr(0, name.find('.'))).string();
  };
  for (const auto& library : exam.libraries.all()) {
    const std::string tag = python_tag(library->path.filename().string());
    if (library->module && (tag.empty() || tag == own)) usable.insert(key(*library));
  }
  std::map<std::string, Group> groups;
  for (const auto& library : exam.libraries.all()) {
    const std::string tag = python_tag(library->path.filename().string());
    if (!library->in_environment || library->standard || tag.empty() || tag == own ||
        usable.contains(key(*library))) {
      continue;
    }
    Group& group = groups[library->owner ? library->owner->name : std::string(split(library->shown, "/")[0])];
    group.files.push_back(library->shown);
    group.tags.insert(tag);
    group.owner = library->owner;
    const std::string path = library->path.string();
    if (path.ends_with("/" + library->shown))
      group.folder = path.substr(0, path.size() - library->shown.size() - 1);
  }
  return groups;
}

// The folder of the project whose sources an editable install put on the path; empty if it is none. Its .pth
// file belongs to a project, and the project file lies there or above.
std::filesystem::path editable_project(const Environment& e, const std::filesystem::path& folder) {
  bool editable = false;
  for (const Distribution& d : e.distributions) {
    for (const RecordRow& row : d.record) {
      if (!row.path.ends_with(".pth") || contains(row.path, "/")) continue;
      const std::string text = read_text(d.site / row.path, 1u << 16).value_or("");
      for (const std::string_view line : split(text, "\n")) editable |= trim(line) == folder.string();
    }
  }
  if (!editable) return {};
  for (const auto& project : {folder, folder.parent_path()}) {
    if (is_there(project / "pyproject.toml") || is_there(project / "setup.py")) return project;
  }
  return {};
}

bool platform_fits(std::string_view platform, const Environment& e) {
  if (platform == "any") return true;
  if (platform.starts_with("macosx")) return e.is_macos;
  if (platform.starts_with("musllinux")) return !e.is_macos && e.musl;
  if (platform.starts_with("manylinux")) return !e.is_macos && !e.musl;
  if (platform.starts_with("linux")) return !e.is_macos;
  return !platform.starts_with("win");
}

}  // namespace

void find_other_python(const Exam& exam, Findings& findings) {
  const Environment& e = exam.environment;
  for (const auto& [name, group] : foreign_modules(exam)) {
    Finding f;
    f.severity = Severity::error;
    f.what = concat(name, " was built for ", join(group.tags, ", "), "; this Python is ", own_tag(e));
    f.evidence = {some_of(group.files)};
    f.leads_to = "ModuleNotFoundError: this Python does not look for modules of that name";
    const std::string off = group.owner ? "" : take_off_path_command(exam, group.folder);
    const std::filesystem::path project = off.empty() ? "" : editable_project(e, group.folder);
    if (!project.empty()) {
      f.evidence.push_back("an editable install of " + project.string());
      f.fix = InstallCommand{{"-e " + project.string()}, false, true, false, false}.text(exam);
    } else if (off.empty()) {
      f.installs = {{name, "", true}};
    } else {
      f.evidence.push_back(how_on_path(exam, group.folder));
      f.fix = off;
    }
    findings.push_back(f);
  }
  for (const Distribution& d : e.distributions) {
    if (d.tags.empty()) continue;
    bool fits = false;
    for (const WheelTag& tag : d.tags) {
      for (const std::string_view platform : split(tag.platform, ".")) fits |= platform_fits(platform, e);
    }
    if (fits) continue;
    const std::string& platform = d.tags.front().platform;
    Finding f;
    f.severity = Severity::error;
    f.what = concat(d.shown(), " comes from a wheel for ", platform, "; this Python is for ",
                    e.is_macos ? "macOS"
                    : e.musl   ? "Linux with musl"
                               : "Linux with glibc");
    f.evidence = {concat(d.folder.filename().string(), "/WHEEL: Tag: ", platform)};
    f.leads_to = "ImportError: its native modules look for another C library or system";
    f.installs = reinstall(d);
    findings.push_back(f);
  }
}

}  // namespace plimsoll::doctor
