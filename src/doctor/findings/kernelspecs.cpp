// Jupyter kernels that point to another interpreter, to none, or to one without ipykernel.
#include <nlohmann/json.hpp>

#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

struct Spec {
  fs::path file;
  std::string program;
  bool ipykernel = false;       // a Python that runs ipykernel itself, not a program in front of it
  bool of_environment = false;  // lies inside the environment
};

std::optional<Spec> read_spec(const fs::path& folder, bool of_environment) {
  const std::optional<std::string> text = read_text(folder / "kernel.json", 1u << 20);
  if (!text) return std::nullopt;
  const nlohmann::json j = nlohmann::json::parse(*text, nullptr, false);
  Spec spec{folder / "kernel.json", "", false, of_environment};
  if (!j.is_object() || !j.contains("argv") || !j["argv"].is_array() || j["argv"].empty()) return spec;
  if (j["argv"][0].is_string()) spec.program = j["argv"][0];
  const bool python = fs::path(spec.program).filename().string().starts_with("python");
  for (const auto& argument : j["argv"]) {
    spec.ipykernel |= python && argument.is_string() && argument.get<std::string>().starts_with("ipykernel");
  }
  return spec;
}

std::vector<Spec> all_specs(const Exam& exam) {
  std::vector<std::pair<fs::path, bool>> folders = {
      {exam.environment.prefix / "share/jupyter/kernels", true}};
  const fs::path home(exam.system.variable("HOME"));
  if (!home.empty()) {
    const std::string_view data = exam.system.variable("XDG_DATA_HOME");
    folders.emplace_back(exam.environment.is_macos ? home / "Library/Jupyter/kernels"
                         : data.empty()            ? home / ".local/share/jupyter/kernels"
                                                   : fs::path(data) / "jupyter/kernels",
                         false);
  }
  for (const std::string_view entry : split(exam.system.variable("JUPYTER_PATH"), ":")) {
    if (!entry.empty()) folders.emplace_back(fs::path(entry) / "kernels", false);
  }
  std::vector<Spec> specs;
  for (const auto& [folder, own] : folders) {
    for (const fs::path& entry : list_folder(folder)) {
      if (auto spec = read_spec(entry, own)) specs.push_back(*std::move(spec));
    }
  }
  return specs;
}

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

void judge(const Exam& exam, const Spec& spec, Findings& findings) {
  const std::string name = spec.file.parent_path().filename().string();
  const std::string again = concat(exam.environment.python.string(), " -m ipykernel install --prefix ",
                                   exam.environment.prefix.string());
  const auto add = [&](Severity severity, std::string what, std::string leads_to, std::string fix) {
    findings.push_back({"",
                        severity,
                        Sureness::certain,
                        std::move(what),
                        {concat(spec.file.string(), ": argv[0] is ", spec.program)},
                        std::move(leads_to),
                        std::move(fix)});
  };
  if (spec.program.empty()) {
    add(Severity::warning, concat("The Jupyter kernel \"", name, "\" cannot be understood"),
        "Jupyter does not offer it, or fails to start it",
        spec.of_environment ? again : "jupyter kernelspec remove " + name);
  } else if (!contains(spec.program, "/")) {
    return;  // looked up on PATH, or replaced by Jupyter with its own interpreter
  } else if (!is_there(spec.program)) {
    add(spec.of_environment ? Severity::error : Severity::warning,
        concat("The Jupyter kernel \"", name, "\" points to an interpreter that is not there"),
        "\"Kernel died before replying to kernel_info\" or FileNotFoundError when it is started",
        spec.of_environment ? again : "jupyter kernelspec remove " + name);
  } else if (spec.ipykernel && !has_ipykernel(spec.program)) {
    add(Severity::error, concat("The Jupyter kernel \"", name, "\" uses an interpreter without ipykernel"),
        "No module named ipykernel_launcher: the kernel dies at once",
        spec.program + " -m pip install ipykernel");
  } else if (spec.of_environment && spec.ipykernel && !same_environment(spec.program, exam.environment)) {
    add(Severity::warning,
        concat("The Jupyter kernel \"", name, "\" of this environment runs the interpreter of another"),
        "Packages installed here cannot be imported in the notebook", again);
  }
}

}  // namespace

void find_kernelspecs(const Exam& exam, Findings& findings) {
  for (const Spec& spec : all_specs(exam)) judge(exam, spec, findings);
}

}  // namespace plimsoll::doctor
