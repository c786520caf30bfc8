// The interpreter itself: gone, replaced by another version, damaged, or translated.
#include "doctor/commands.h"
#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/formats/text_table.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

void add(Findings& findings, Severity severity, std::string what, std::string seen, std::string leads_to,
         std::string fix) {
  findings.push_back({"",
                      severity,
                      Sureness::certain,
                      std::move(what),
                      {std::move(seen)},
                      std::move(leads_to),
                      std::move(fix)});
}

// The standard library of the Python behind a virtual environment, which has none of its own.
bool base_is_gone(const Exam& exam) {
  const Environment& e = exam.environment;
  const bool elsewhere = e.is_macos && !exam.options.system.empty();  // another machine's files
  if (e.kind != Environment::Kind::venv || e.base_folder.empty() || elsewhere) return false;
  return !is_there(e.standard_library / "os.py") &&
         !is_there(e.prefix / "lib" / e.standard_library.filename() / "os.py");
}

void made_on_windows(const Exam& exam, Findings& findings) {
  const std::filesystem::path& prefix = exam.environment.prefix;
  add(findings, Severity::error, "This environment was made on Windows: its programs do not run here",
      (prefix / "Scripts/python.exe").string(),
      "bin/python is not there: nothing of it can run in Linux or WSL", make_anew_command(exam));
}

}  // namespace

void find_interpreter(const Exam& exam, Findings& findings) {
  const Environment& e = exam.environment;
  if (e.interpreter.empty()) {
    if (is_there(e.prefix / "Scripts/python.exe")) return made_on_windows(exam, findings);
    std::error_code error;
    const auto target = std::filesystem::read_symlink(e.python, error);
    add(findings, Severity::error, concat("The interpreter of this environment is gone"),
        error ? concat(e.python.string(), " is not there")
              : concat(e.python.string(), " points to ", target.string(), ", which is not there"),
        "Nothing of this environment can run; a kernel that uses it never starts", make_anew_command(exam));
    return;
  }
  if (is_there(e.prefix / "Scripts/python.exe")) made_on_windows(exam, findings);
  if (!e.is_macos && e.machine == exam.system.machine && ::access(e.interpreter.c_str(), X_OK) != 0) {
    add(findings, Severity::error,
        "The interpreter of this environment may not be run: it has no right to (x)", e.interpreter.string(),
        "Permission denied: nothing of this environment can run",
        concat("chmod +x ", shell_word(e.interpreter.parent_path()), "/*"));
  }
  if (const std::string text = read_text(e.prefix / "pyvenv.cfg", 1u << 16).value_or("");
      end_of_utf8(text) != std::string_view::npos) {
    add(findings, Severity::error,
        "pyvenv.cfg is not UTF-8: it was saved by an editor or by PowerShell as UTF-16",
        (e.prefix / "pyvenv.cfg").string(), "UnicodeDecodeError in site: Python does not start",
        make_anew_command(exam));
  }
  if (e.config_lost) {
    add(findings, Severity::error, "This virtual environment has lost its pyvenv.cfg",
        (e.prefix / "pyvenv.cfg").string() + " is not there",
        "Python runs as if there were no environment: ModuleNotFoundError for everything in it",
        concat(shell_word(e.interpreter), " -m venv --without-pip ", shell_word(e.prefix)));
  }
  const std::string file = e.interpreter.filename().string();
  if (file.starts_with("python3.") && e.kind == Environment::Kind::venv) {
    const auto now = Version::parse(file.substr(6, file.find_first_not_of("0123456789.", 6) - 6));
    if (now && now->minor() != e.minor) {
      add(findings, Severity::error,
          concat("This environment was made for Python ", e.major, ".", e.minor,
                 ", but its interpreter is now ", now->text()),
          concat(e.python.string(), " -> ", e.interpreter.string()),
          concat("ModuleNotFoundError for everything: the packages lie in lib/python", e.major, ".", e.minor),
          make_anew_command(exam));
    }
  }
  if (findings.empty() && base_is_gone(exam)) {
    add(findings, Severity::error, "The Python that this environment was made from is gone",
        concat((e.prefix / "pyvenv.cfg").string(), ": home = ", e.base_folder.string(),
               is_there(e.base_folder) ? ", where its standard library is not" : ", which is not there"),
        "Python does not start: No module named 'encodings'", make_anew_command(exam));
    return;
  }
  const Library* library = exam.libraries.interpreter();
  if (library && !library->elf && library->slices.empty()) {
    const bool script = library->file && library->file->bytes().text().starts_with("#!");
    if (!script) {
      add(findings, Severity::error, "The interpreter is no program for this system",
          concat(e.interpreter.string(), library->broken.empty() ? "" : ": " + library->broken),
          "Exec format error: nothing of this environment can run", make_anew_command(exam));
    }
  }
  if (exam.system.apple_silicon && e.is_macos && e.machine == "x86_64") {
    add(findings, Severity::warning,
        "This Python was built for Intel Macs and runs translated on Apple silicon", e.interpreter.string(),
        "Several times slower; TensorFlow and JAX for Intel use AVX, which the translation lacks: illegal "
        "instruction",
        e.kind == Environment::Kind::conda ? "CONDA_SUBDIR=osx-arm64 " + make_anew_command(exam)
                                           : "Make the environment anew with a Python for Apple silicon.");
  }
}

}  // namespace plimsoll::doctor
