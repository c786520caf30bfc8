// plimsoll doctor: examines a Python environment and says what would crash.
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "command.h"
#include "plimsoll/doctor.h"
#include "plimsoll/error.h"

namespace {

struct Arguments {
  plimsoll::doctor::Options options;
  bool json = false;
  bool plain = false;
};

// 1 and 2 speak of the environment; this says that it could not be examined.
constexpr int kNotExamined = 3;

plimsoll::doctor::Diagnosis diagnose(const plimsoll::doctor::Options& options) try {
  return plimsoll::doctor::examine(options);
} catch (const plimsoll::Error& e) {
  std::fprintf(stderr, "plimsoll: %s\n", e.what());
  throw CLI::RuntimeError(kNotExamined);
}

void run(const Arguments& arguments) {
  const plimsoll::doctor::Diagnosis diagnosis = diagnose(arguments.options);
  const bool colour = !arguments.plain && ::isatty(STDOUT_FILENO) != 0;
  const std::string text = arguments.json ? diagnosis.json() + "\n" : diagnosis.text(colour);
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (diagnosis.exit_status() != 0) throw CLI::RuntimeError(diagnosis.exit_status());
}

}  // namespace

void cmd_doctor(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  plimsoll::doctor::Options& options = arguments->options;
  CLI::App* command =
      app.add_subcommand("doctor", "Find what would crash in a Python environment, without importing it");
  command->add_option(
      "model", options.model,
      "A model (.h5, .keras), data file, program (.py) or notebook (.ipynb): does it work here?");
  command->add_option("--env", options.environment, "A venv, conda environment, prefix or Python executable");
  command->add_flag("--import", options.import, "Also import each framework, each in a process of its own");
  command->add_option("--post-mortem", options.post_mortem, "A report the guard wrote about a dead kernel");
  command->add_option("--system", options.system, "Readings of another machine, from its doctor --json");
  command->add_flag("--json", arguments->json, "For programs");
  command->add_flag("--no-colour,--no-color", arguments->plain, "Plain text on a terminal too");
  command->footer("Ends with 0: nothing above a note; 1: warnings; 2: errors; 3: could not be examined.");
  command->callback([arguments] { run(*arguments); });
}
