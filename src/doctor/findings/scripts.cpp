// Programs of the environment (jupyter, pip ...) whose first line names an interpreter that is not there: an
// environment that was moved or copied.
#include <map>

#include "doctor/commands.h"
#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/python/import_follower.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

// The interpreter a script names, or empty. Paths too long for the system stand in a second line, in a trick
// that both the shell and Python understand: '''exec' /long/path/python "$0" "$@".
std::string interpreter_of(const std::string& head) {
  if (!head.starts_with("#!")) return "";
  const std::vector<std::string_view> lines = split(head, "\n");
  std::string_view line = trim(lines[0].substr(2));
  constexpr std::string_view kTrick = "'''exec' ";
  if (line == "/bin/sh" && lines.size() > 1 && lines[1].starts_with(kTrick))
    line = lines[1].substr(kTrick.size());
  if (line.starts_with('"')) return std::string(line.substr(1, line.find('"', 1) - 1));
  return std::string(line.substr(0, line.find_first_of(" \t")));
}

bool is_of_other_venv(const std::filesystem::path& interpreter, const Environment& e) {
  const std::filesystem::path prefix = interpreter.parent_path().parent_path();
  return is_there(prefix / "pyvenv.cfg") && real_path(prefix) != real_path(e.prefix);
}

// Programs that an older pip wrote, or a script of someone's own, for a function that pip has no more.
void old_pip(const Exam& exam, const std::filesystem::path& file, Findings& findings) {
  const std::string name = file.filename().string();
  if (!name.starts_with("pip") || !exam.environment.find("pip")) return;
  ImportFollower follower(exam.environment);
  follower.start_program("<script>", file, read_text(file, 1u << 16).value_or(""));
  for (const BrokenImport& b : follower.broken()) {
    if (b.module != "pip" && !b.module.starts_with("pip.")) continue;
    Finding f;
    f.severity = Severity::warning;
    f.what =
        concat("The program ", name, " is not of this environment's ", exam.environment.find("pip")->shown(),
               ": it wants ", b.name.empty() ? b.module : concat(b.name, " of ", b.module));
    f.evidence = {file.string()};
    f.leads_to = concat("ImportError: cannot import name '", b.name, "', at each call of ", name);
    f.fix = concat(shell_word(exam.environment.python), " -m pip install --force-reinstall pip");
    findings.push_back(f);
    return;
  }
}

}  // namespace

void find_scripts(const Exam& exam, Findings& findings) {
  // A system's own programs are its packager's business.
  if (exam.environment.kind == Environment::Kind::prefix) return;
  std::map<std::string, std::vector<std::string>> lost;  // by the interpreter that is gone
  size_t all = 0;
  for (const std::filesystem::path& file : list_folder(exam.environment.prefix / "bin")) {
    const std::string interpreter = interpreter_of(read_text(file, 512).value_or(""));
    if (!interpreter.starts_with('/') || !contains(interpreter, "python")) continue;
    ++all;
    old_pip(exam, file, findings);
    if (!is_there(interpreter) || is_of_other_venv(interpreter, exam.environment))
      lost[interpreter].push_back(file.filename().string());
  }
  for (const auto& [interpreter, scripts] : lost) {
    Finding f;
    // One of many may have come as it is: Python's own, or copied by hand.
    const bool most = 2 * scripts.size() > all;
    f.severity = most ? Severity::error : Severity::warning;
    f.what = concat(most ? "This environment was moved or copied: " : "", scripts.size(), " of its ",
                    most ? "" : concat(all, " "), "programs name an interpreter ",
                    is_there(interpreter) ? "of another environment" : "that is gone");
    f.evidence = {concat("#!", interpreter), some_of(scripts, 6)};
    f.leads_to = concat(scripts.front(),
                        ": bad interpreter: No such file or directory; or another environment's runs");
    f.fix = most ? make_anew_command(exam)
                 : concat("sed -i '1s|^#!.*|#!", exam.environment.python.string(), "|' ",
                          shell_word(exam.environment.prefix / "bin" / scripts.front()));
    findings.push_back(f);
  }
}

}  // namespace plimsoll::doctor
