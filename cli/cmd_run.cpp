// plimsoll run: a script or notebook written for tensorflow.keras, by python -m plimsoll.run.
#include "command.h"
#include "python_program.h"

namespace {

struct Arguments {
  std::string python, memory, output;
  bool shadow = false;
};

// What stands before the file is ours, what follows it is the script's: so the file is no positional of ours.
void run(const Arguments& a, const std::vector<std::string>& file_and_arguments) {
  if (file_and_arguments.empty()) throw CLI::RequiredError("A .py or .ipynb file");
  if (file_and_arguments[0].starts_with('-')) throw CLI::ExtrasError({file_and_arguments[0]});
  std::vector<std::string> words;
  if (!a.memory.empty()) words.insert(words.end(), {"--memory", a.memory});
  if (!a.output.empty()) words.insert(words.end(), {"--output", a.output});
  if (a.shadow) words.emplace_back("--shadow");
  words.insert(words.end(), file_and_arguments.begin(), file_and_arguments.end());
  plimsoll::cli::become_python(a.python, "plimsoll.run", words);
}

}  // namespace

void cmd_run(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "run",
      "Run a script or notebook written for tensorflow.keras, without TensorFlow: plimsoll run file …");
  command->add_option("--python", a->python,
                      "The interpreter (default: of the active virtual environment, else of PATH)");
  command->add_option("--memory", a->memory, "The memory line, such as 2GiB or 60%");
  command->add_option("--output", a->output,
                      "Where an executed notebook goes (default: the notebook itself)");
  command->add_flag("--shadow", a->shadow, "Take Plimsoll's tensorflow though TensorFlow is installed");
  command->prefix_command();
  command->footer(
      "A .py or .ipynb file follows the options, and its own arguments follow it.\n"
      "Examples:\n  plimsoll run train.py --epochs 3\n  plimsoll run --memory 2GiB notebook.ipynb\n"
      "docs/tensorflow.md has what a script may use; plimsoll check lists what it uses beyond that.");
  command->callback([command, a] { run(*a, command->remaining()); });
}
