#include "doctor/commands.h"

#include <algorithm>
#include <set>

#include "doctor/files.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

fs::path on_path(const System& system, const std::string& program) {
  for (const std::string_view folder : split(system.variable("PATH"), ":")) {
    if (!folder.empty() && is_there(fs::path(folder) / program)) return fs::path(folder) / program;
  }
  return {};
}

bool made_by_uv(const Exam& exam) {
  const auto& all = exam.environment.distributions;
  return exam.environment.by_uv ||
         std::any_of(all.begin(), all.end(), [](const Distribution& d) { return d.installer == "uv"; }) ||
         !on_path(exam.system, "uv").empty();
}

// A system's Python that asks to be left alone (PEP 668) refuses to install unless told.
std::string consent(const Environment& e) {
  const bool managed =
      e.kind == Environment::Kind::prefix && is_there(e.standard_library / "EXTERNALLY-MANAGED");
  return managed ? " --break-system-packages" : "";
}

// "python -m pip", made available first where it is not; empty where uv serves instead.
std::string pip(const Exam& exam, std::string& before) {
  const Environment& e = exam.environment;
  const std::string python = shell_word(e.python);
  if (!e.locate("pip/__main__.py").empty()) return python + " -m pip";
  if (e.kind == Environment::Kind::conda) {
    before = concat("conda install -y -p ", shell_word(e.prefix), " pip && ");
  } else if (made_by_uv(exam)) {
    return "";
  } else if (is_there(e.standard_library / "ensurepip/_bundled")) {
    before = python + " -m ensurepip && ";
  } else {
    return concat("python3 -m pip --python ", python);
  }
  return python + " -m pip";
}

bool from_conda(const Exam& exam, std::string_view requirement) {
  const auto parsed = Requirement::parse(requirement);
  const Distribution* d = parsed ? exam.environment.find(normal_name(parsed->name)) : nullptr;
  return exam.environment.kind == Environment::Kind::conda && d && d->installer == "conda";
}

std::string words(const std::vector<std::string>& requirements) {
  std::string out;
  for (const std::string& r : requirements) {
    out += r.starts_with("-e ") ? concat(" -e ", shell_word(r.substr(3))) : concat(" ", shell_word(r));
  }
  return out;
}

// Changes kernel.json; Python's own JSON keeps the rest of it.
std::string edit_kernelspec(const Exam& exam, const std::string& statement) {
  return concat(shell_word(exam.environment.python), " -c ",
                shell_word(concat("import json,sys; p=sys.argv[1]; s=json.load(open(p)); e=s['env']; ",
                                  statement, "; json.dump(s,open(p,'w'),indent=1)")),
                " ", shell_word(exam.kernelspec));
}

// A Python of the same version to make the environment with; a bare name where none is found.
std::string maker_python(const Exam& exam) {
  const Environment& e = exam.environment;
  const std::string name = concat("python", e.major, ".", e.minor);
  for (const fs::path& candidate : {e.base_prefix / "bin" / name, on_path(exam.system, name)}) {
    const bool inside = contains(candidate.string(), e.prefix.string() + "/");
    if (!candidate.empty() && !inside && is_there(candidate)) return shell_word(candidate);
  }
  return name;
}

// Projects that no other installed project requires, in the versions they have.
std::vector<std::string> root_projects(const Environment& e) {
  std::set<std::string> required;
  for (const Distribution& d : e.distributions) {
    for (const Requirement& r : d.requires_dist) {
      if (r.marker.empty() || marker_holds(r.marker, e.markers).value_or(false))
        required.insert(normal_name(r.name));
    }
  }
  std::vector<std::string> roots;
  std::set<std::string> seen;
  for (const Distribution& d : e.distributions) {
    if (d.normal == "pip" || d.normal == "setuptools" || d.normal == "wheel" || !d.has_metadata) continue;
    if (required.contains(d.normal) || !seen.insert(d.normal).second) continue;
    if (d.editable) {
      if (is_folder(d.source)) roots.push_back("-e " + d.source.string());
    } else {
      // An index has no "+cpu" builds.
      roots.push_back(concat(d.name, "==", d.version_text.substr(0, d.version_text.find('+'))));
    }
  }
  return roots;
}

}  // namespace

std::string shell_word(const fs::path& path) {
  const std::string& text = path.native();
  const auto plain = [](char c) {
    return is_alphanumeric(c) || contains("_-./=:,+@%", std::string_view(&c, 1));
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::string InstallCommand::text(const Exam& exam) const {
  const bool conda = std::all_of(requirements.begin(), requirements.end(),
                                 [&](const std::string& r) { return from_conda(exam, r); });
  if (conda) {
    std::string command = concat("conda install -y -p ", shell_word(exam.environment.prefix));
    if (again) command += " --force-reinstall";
    return command + words(requirements);
  }
  std::string before;
  const std::string tool = pip(exam, before);
  std::string command = tool.empty() ? concat("uv pip install --python ", shell_word(exam.environment.python))
                                     : concat(before, tool, " install", consent(exam.environment));
  if (upgrade) command += " --upgrade";
  if (again) {
    command +=
        tool.empty() ? " --reinstall --no-cache --no-deps" : " --force-reinstall --no-cache-dir --no-deps";
  }
  if (alone) command += " --no-deps";
  if (wheels_only) command += " --only-binary :all:";
  return command + words(requirements);
}

std::string uninstall_command(const Exam& exam, const std::vector<std::string>& projects) {
  const bool conda = std::all_of(projects.begin(), projects.end(),
                                 [&](const std::string& r) { return from_conda(exam, r); });
  if (conda)
    return concat("conda remove -y --force -p ", shell_word(exam.environment.prefix), words(projects));
  std::string before;
  const std::string tool = pip(exam, before);
  if (tool.empty())
    return concat("uv pip uninstall --python ", shell_word(exam.environment.python), words(projects));
  return concat(before, tool, " uninstall -y", consent(exam.environment), words(projects));
}

std::string unset_command(const Exam& exam, std::string_view variable) {
  if (exam.kernelspec.empty()) return concat("unset ", variable);
  return edit_kernelspec(exam, concat("e.pop('", variable, "',None)"));
}

std::string set_command(const Exam& exam, std::string_view variable, std::string_view value) {
  if (exam.kernelspec.empty()) return concat("export ", variable, "=", shell_word(value));
  return edit_kernelspec(exam, concat("e['", variable, "']='", value, "'"));
}

std::string without_entry_command(const Exam& exam, std::string_view variable, std::string_view entry) {
  std::vector<std::string> kept;
  for (const std::string_view other : split(exam.system.variable(variable), ":")) {
    if (!other.empty() && other != entry) kept.emplace_back(other);
  }
  return kept.empty() ? unset_command(exam, variable) : set_command(exam, variable, join(kept, ":"));
}

std::string how_on_path(const Exam& exam, const fs::path& folder) {
  for (const PathEntry& entry : exam.environment.path.entries()) {
    if (entry.folder != folder) continue;
    if (entry.from == PathEntry::From::variable) return "PYTHONPATH holds " + entry.written;
    if (entry.from == PathEntry::From::pth) return concat(entry.pth.string(), " holds ", entry.written);
  }
  return contains(folder.string(), "/.local/lib/") ? "it is in the user's own packages, " + folder.string()
                                                   : "";
}

std::string take_off_path_command(const Exam& exam, const fs::path& folder) {
  for (const PathEntry& entry : exam.environment.path.entries()) {
    if (entry.folder != folder) continue;
    if (entry.from == PathEntry::From::variable)
      return without_entry_command(exam, "PYTHONPATH", entry.written);
    if (entry.from == PathEntry::From::pth) return "rm " + shell_word(entry.pth);
  }
  return contains(folder.string(), "/.local/lib/") ? set_command(exam, "PYTHONNOUSERSITE", "1") : "";
}

std::string make_anew_command(const Exam& exam) {
  const Environment& e = exam.environment;
  std::vector<std::string> projects = root_projects(e);
  const std::string prefix = shell_word(e.prefix), python = shell_word(e.prefix / "bin/python3");
  if (e.kind == Environment::Kind::conda) {
    const std::string create =
        concat("conda create -y -p ", prefix, " python=", e.major, ".", e.minor, " pip");
    return projects.empty() ? create : concat(create, " && ", python, " -m pip install", words(projects));
  }
  if (e.by_uv) {
    const std::string create = concat("uv venv --clear --python ", e.major, ".", e.minor, " ", prefix);
    return projects.empty() ? create
                            : concat(create, " && uv pip install --python ", python, words(projects));
  }
  const std::string create = concat(maker_python(exam), " -m venv --clear ", prefix);
  return projects.empty() ? create : concat(create, " && ", python, " -m pip install", words(projects));
}

}  // namespace plimsoll::doctor
