// Jupyter kernels that point to another interpreter, to none, or to one without ipykernel.
#include <unistd.h>

#include "doctor/commands.h"
#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/kernelspec.h"
#include "doctor/program_needs.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

// Two interpreters are of one environment if their folders are the same; links within do not count.
bool same_environment(const fs::path& program, const Environment& e) {
  return real_path(program.parent_path()) == real_path(e.prefix / "bin");
}

bool has_ipykernel(const fs::path& program) {
  const fs::path prefix = program.parent_path().parent_path();
  for (const fs::path& library : list_folder(prefix / "lib")) {
    if (is_there(library / "site-packages/ipykernel") || is_there(library / "dist-packages/ipykernel"))
      return true;
  }
  // Someone else's layout: no reason to suspect it.
  return !is_there(prefix / "pyvenv.cfg") && !is_there(prefix / "conda-meta");
}

// C:\Users\ada\python.exe: the kernel.json came from another system, in a home folder that is synchronised.
bool is_of_windows(std::string_view program) { return program.ends_with(".exe") || contains(program, "\\"); }

// Whether `python -m module` finds what it is to run, as far as that can be seen.
bool can_run(const Environment& e, const std::string& module) {
  const size_t dot = module.find('.');
  const Origin origin = e.path.find(module.substr(0, dot));
  if (origin.kind != Origin::Kind::package || dot == std::string::npos) return true;
  fs::path place = origin.file.parent_path();
  for (const std::string_view part : split(std::string_view(module).substr(dot + 1), ".")) place /= part;
  return is_there(place) || is_there(place.string() + ".py");
}

// Variables of a process are texts; Jupyter hands them on as they are.
void variables_as_texts(const Exam& exam, const KernelSpec& spec, const std::string& name,
                        Findings& findings) {
  const Exam inside{exam.options, exam.system, exam.environment, exam.libraries, spec.file};
  std::vector<std::string> seen, changes;
  for (const auto& [variable, value] : spec.no_texts) {
    seen.push_back(concat(variable, ": ", value));
    changes.push_back(value == "null" ? unset_command(inside, variable)
                                      : set_command(inside, variable, value));
  }
  findings.push_back({"",
                      Severity::error,
                      Sureness::certain,
                      concat("The Jupyter kernel \"", name,
                             "\" sets variables to values that are no strings: ", some_of(seen)),
                      {spec.file.string()},
                      "TypeError: expected str, bytes or os.PathLike object, when the kernel is started",
                      join(changes, " && ") + "   # the same value, as text"});
}

void judge(const Exam& exam, const KernelSpec& spec, Findings& findings) {
  const std::string name = spec.file.parent_path().filename().string();
  const std::string remove = "rm -r " + shell_word(spec.file.parent_path());
  const std::string again =
      exam.environment.locate("ipykernel").empty()
          ? remove
          : concat(shell_word(exam.environment.python), " -m ipykernel install --prefix ",
                   shell_word(exam.environment.prefix), " --name ", shell_word(name));
  const auto add = [&](Severity severity, std::string what, std::string leads_to, std::string fix) {
    findings.push_back({"",
                        severity,
                        Sureness::certain,
                        std::move(what),
                        {concat(spec.file.string(), ": argv[0] is ", spec.program)},
                        std::move(leads_to),
                        std::move(fix)});
  };
  if (!spec.not_json.empty()) {
    add(spec.of_environment ? Severity::error : Severity::warning,
        concat("The Jupyter kernel \"", name, "\" has a kernel.json that is not JSON, at ", spec.not_json),
        "Jupyter does not offer it, or fails to start it", spec.of_environment ? again : remove);
    findings.back().evidence = {spec.file.string()};
  } else if (!spec.no_list.empty()) {
    add(spec.of_environment ? Severity::error : Severity::warning,
        concat("The Jupyter kernel \"", name,
               "\" has a command (argv) that is no list of strings: ", spec.no_list),
        "TraitError or FileNotFoundError when it is started", spec.of_environment ? again : remove);
    findings.back().evidence = {spec.file.string()};
  } else if (spec.program.empty()) {
    add(Severity::warning, concat("The Jupyter kernel \"", name, "\" cannot be understood"),
        "Jupyter does not offer it, or fails to start it", spec.of_environment ? again : remove);
  } else if (!spec.no_texts.empty()) {
    variables_as_texts(exam, spec, name, findings);
  } else if (is_of_windows(spec.program)) {
    add(spec.of_environment ? Severity::error : Severity::warning,
        concat("The Jupyter kernel \"", name, "\" starts a program of Windows: ", spec.program),
        "FileNotFoundError when it is started", spec.of_environment ? again : remove);
  } else if (!contains(spec.program, "/") && !spec.program.starts_with("python") &&
             !exam.system.variable("PATH").empty() && !is_on_path(exam, spec.program)) {
    add(spec.of_environment ? Severity::error : Severity::warning,
        concat("The Jupyter kernel \"", name, "\" starts ", spec.program, ", which is not on PATH"),
        "FileNotFoundError: [Errno 2] No such file or directory, when it is started",
        spec.of_environment ? again : remove);
  } else if (!contains(spec.program, "/")) {
    return;  // looked up on PATH, or replaced by Jupyter with its own interpreter
  } else if (!is_there(spec.program)) {
    add(spec.of_environment ? Severity::error : Severity::warning,
        concat("The Jupyter kernel \"", name, "\" points to an interpreter that is not there"),
        "\"Kernel died before replying to kernel_info\" or FileNotFoundError when it is started",
        spec.of_environment ? again : remove);
  } else if (::access(spec.program.c_str(), X_OK) != 0) {
    add(spec.of_environment ? Severity::error : Severity::warning,
        concat("The Jupyter kernel \"", name,
               "\" starts a program that this user may not run: ", spec.program),
        "PermissionError: [Errno 13] Permission denied, when it is started",
        concat("chmod +x ", shell_word(spec.program)));
  } else if (spec.runs_environment && !can_run(exam.environment, spec.module)) {
    add(Severity::error,
        concat("The Jupyter kernel \"", name, "\" starts a module that is not there any more: ", spec.module),
        concat("No module named ", spec.module, ": the kernel dies at once"),
        spec.of_environment ? again : remove);
  } else if (spec.ipykernel && !has_ipykernel(spec.program)) {
    add(Severity::error, concat("The Jupyter kernel \"", name, "\" uses an interpreter without ipykernel"),
        "No module named ipykernel_launcher: the kernel dies at once",
        concat(shell_word(spec.program), " -m pip install ipykernel"));
    if (same_environment(spec.program, exam.environment)) {
      findings.back().fix.clear();
      findings.back().installs = {{"ipykernel", "", false}};
    }
  } else if (spec.ipykernel && !spec.has_connection_file) {
    add(Severity::error,
        concat("The Jupyter kernel \"", name, "\" has no {connection_file} among its arguments (argv)"),
        "The kernel starts and listens elsewhere: it never answers, and Jupyter waits",
        spec.of_environment ? again : remove);
  } else if (spec.of_environment && spec.ipykernel && !same_environment(spec.program, exam.environment)) {
    add(Severity::warning,
        concat("The Jupyter kernel \"", name, "\" of this environment runs the interpreter of another"),
        "Packages installed here cannot be imported in the notebook", again);
  }
}

}  // namespace

void find_kernelspecs(const Exam& exam, Findings& findings) {
  for (const KernelSpec& spec : read_kernelspecs(exam.environment, exam.system)) judge(exam, spec, findings);
}

}  // namespace plimsoll::doctor
